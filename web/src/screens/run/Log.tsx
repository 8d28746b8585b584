// The output of a run: a list of lines of which only those in view are drawn.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { hrefs, setQuery } from "../../app/router";
import { remembered, zone } from "../../app/preferences";
import { toastDone } from "../../app/toasts";
import { isOpen, type Run } from "../../api/types";
import { Icon } from "../../ui/icons";
import { Button, Empty, Failure } from "../../ui/parts";
import { toneOf } from "../../ui/status";
import { bytesText, partsOf } from "../../ui/time";
import { lastDrawn, parseAnsi, type Span, type Style } from "./ansi";
import { LINE_HEIGHT, LogController } from "./log_controller";
import type { Line } from "./log_model";
import { downloadAddress } from "./log_source";
import { t } from "./words";

const wraps = remembered("peal.log.wrap", ["no", "yes"] as const, "no");
const times = remembered("peal.log.times", ["yes", "no"] as const, "yes");

function flip(choice: typeof wraps | typeof times): void {
    choice.value = choice.value === "yes" ? "no" : "yes";
}

function colour(value: string | null): { class?: string; css?: string } {
    if (value === null) return {};
    return value.startsWith("#") ? { css: value } : { class: String(Number(value) % 8) };
}

function Text({ span, needle }: { span: Span; needle: string }) {
    const style: Style = span.style;
    const fg = colour(style.inverse ? style.bg : style.fg);
    const bg = colour(style.inverse ? (style.fg ?? "7") : style.bg);
    const bright = style.fg !== null && Number(style.fg) >= 8;
    const classes = [
        fg.class && `fg-${fg.class}`,
        bg.class && `bg-${bg.class}`,
        (style.bold || bright) && "bold",
        style.dim && "dim",
        style.italic && "italic",
        style.underline && "underline",
    ].filter(Boolean);
    // Colours of 256 and of 16 million were not chosen for this ground: some ink makes them legible.
    const ink = fg.css && !style.bg ? `color-mix(in oklab, ${fg.css}, var(--ink) 45%)` : fg.css;
    const css = { ...(ink ? { color: ink } : {}), ...(bg.css ? { background: bg.css } : {}) };
    const text = linksIn(span.text).map((part, i) => {
        const marked = needle ? split(part, needle).map((piece, j) => (j % 2 ? <mark key={j}>{piece}</mark> : piece)) : part;
        if (i % 2 === 0) return marked;
        return (
            <a key={i} href={part} target="_blank" rel="noreferrer noopener">
                {marked}
            </a>
        );
    });
    return classes.length || fg.css || bg.css ? (
        <span class={classes.join(" ")} style={css}>
            {text}
        </span>
    ) : (
        <>{text}</>
    );
}

// Addresses are at the odd indexes, without a point or a bracket that ends the sentence.
function linksIn(text: string): string[] {
    return text.includes("://") ? text.split(/(https?:\/\/[^\s"'<>`]*[^\s"'<>`.,;:!?)\]}])/) : [text];
}

// Matches are at the odd indexes.
function split(text: string, needle: string): string[] {
    const parts: string[] = [];
    const small = text.toLowerCase();
    const wanted = needle.toLowerCase();
    let at = 0;
    for (;;) {
        const next = small.indexOf(wanted, at);
        if (next < 0) break;
        parts.push(text.slice(at, next), text.slice(next, next + wanted.length));
        at = next + wanted.length;
    }
    parts.push(text.slice(at));
    return parts;
}

function Row({ line, log, runId }: { line: Line; log: LogController; runId: string }) {
    const { spans } = parseAnsi(lastDrawn(line.text), log.styleBefore(line));
    const at = line.mark?.at;
    const { n, exact } = log.model.numberOf(line.block, line.index);
    const number = exact ? String(n) : `~${n}`;
    const isTarget = log.target.value === line.offset;
    const isStderr = line.mark?.stream === "stderr";
    return (
        <div class={`log-row ${isTarget ? "is-target" : ""} ${isStderr ? "is-stderr" : ""}`}>
            <a
                class="log-number"
                href={hrefs.run(runId, { at: String(line.offset) })}
                title={t("log.line.link", { n: number })}
                tabIndex={-1}
                onClick={(event) => {
                    event.preventDefault();
                    log.target.value = isTarget ? null : line.offset;
                    setQuery({ at: isTarget ? null : String(line.offset) });
                    if (!isTarget) {
                        void navigator.clipboard?.writeText(window.location.href);
                        toastDone(t("log.line.copied"));
                    }
                }}
            >
                {number}
            </a>
            {times.value === "yes" && <span class="log-time">{at ? partsOf(Date.parse(at), zone.value).time : ""}</span>}
            <span class="log-stream" title={isStderr ? "stderr" : undefined}>
                {isStderr ? "!" : ""}
            </span>
            <span class="log-text">
                {spans.map((span, i) => (
                    <Text key={i} span={span} needle={log.needle} />
                ))}
                {line.cut && <em class="faint"> {t("log.line.cut")}</em>}
                {"\n"}
            </span>
        </div>
    );
}

// How many letters have room in a line.
function columnsOf(element: HTMLElement): number {
    const probe = document.createElement("span");
    probe.className = "log-probe";
    probe.textContent = "0".repeat(100);
    element.append(probe);
    const width = probe.getBoundingClientRect().width / 100;
    probe.remove();
    const gutter = element.querySelector(".log-text")?.getBoundingClientRect().left ?? 0;
    return Math.max(20, Math.floor((element.getBoundingClientRect().left + element.clientWidth - gutter) / width));
}

function Viewport({ log, runId }: { log: LogController; runId: string }) {
    const scroller = useRef<HTMLDivElement>(null);
    const ours = useRef(0);
    const isWrapped = wraps.value === "yes";
    log.version.value; // read here: another controller has another signal

    useEffect(() => {
        const element = scroller.current;
        if (!element) return undefined;
        const measure = new ResizeObserver(() => {
            log.viewHeight = element.clientHeight;
            log.rows = Math.max(5, Math.ceil(element.clientHeight / LINE_HEIGHT));
            if (isWrapped) log.wrapAt(columnsOf(element));
            if (log.following.value || log.atEnd) log.toEnd();
            else log.scrollBy(0);
        });
        log.wrapAt(isWrapped ? columnsOf(element) : 0);
        measure.observe(element);
        // A very long output has a scroll bar that is shorter than its lines: a notch of the wheel
        // still moves by a few lines.
        const wheel = (event: WheelEvent): void => {
            if (!log.isScaled || event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
            event.preventDefault();
            log.scrollBy(event.deltaY / LINE_HEIGHT);
        };
        element.addEventListener("wheel", wheel, { passive: false });
        return () => {
            measure.disconnect();
            element.removeEventListener("wheel", wheel);
        };
    }, [log, isWrapped]);

    useLayoutEffect(() => {
        const element = scroller.current;
        // Somebody has scrolled since, and the event is on its way: it must not be undone.
        if (!element || Math.abs(element.scrollTop - ours.current) >= 2) return;
        const top = log.scrollTop;
        if (Math.abs(element.scrollTop - top) >= 1) {
            element.scrollTop = top;
            ours.current = element.scrollTop; // as far as it goes
        }
    });

    const onScroll = (): void => {
        const element = scroller.current;
        if (!element || Math.abs(element.scrollTop - ours.current) < 2) return;
        ours.current = element.scrollTop;
        const line = element.scrollTop * log.linesPerPixel;
        const isUp = line < log.model.lineAt(log.place) - 0.5;
        if (isUp) log.following.value = false;
        log.scrollTo(line);
    };
    const onKey = (event: KeyboardEvent): void => {
        const page = Math.max(1, log.rows - 3);
        const moves: Record<string, () => void> = {
            ArrowDown: () => log.scrollBy(1),
            ArrowUp: () => log.scrollBy(-1),
            PageDown: () => log.scrollBy(page),
            PageUp: () => log.scrollBy(-page),
            Home: () => log.scrollTo(0),
            End: () => log.setFollowing(true),
        };
        const move = moves[event.key];
        if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
        if (event.key === "Home") log.following.value = false;
        event.preventDefault();
        move();
    };
    const lines = log.visible();
    const fraction = log.place.line - Math.floor(log.place.line);
    return (
        <div
            class={`log-scroller ${isWrapped ? "is-wrapped" : ""}`}
            ref={scroller}
            onScroll={onScroll}
            onKeyDown={onKey}
            tabIndex={0}
            role="log"
            aria-live="off"
            aria-label={t("log")}
        >
            <div class="log-height" style={{ height: `${log.height + LINE_HEIGHT}px` }}>
                <div class="log-view" style={{ transform: `translateY(${-fraction * LINE_HEIGHT}px)` }}>
                    {lines.map((line, i) =>
                        line ? (
                            <Row key={line.offset} line={line} log={log} runId={runId} />
                        ) : (
                            <div key={`empty-${i}`} class="log-row is-empty">
                                <span class="log-number">·</span>
                            </div>
                        ),
                    )}
                </div>
            </div>
        </div>
    );
}

const TYPED_MS = 200; // typed so fast it is not searched yet

function Search({ log }: { log: LogController }) {
    const [text, setText] = useState("");
    const [nothing, setNothing] = useState(false);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    const find = (wanted: string, backwards: boolean): void => {
        clearTimeout(timer.current);
        void log.search(wanted, backwards).then((found) => setNothing(!found));
    };
    const all = log.matches.value;
    const at = all && log.found.value !== null ? all.indexOf(log.found.value) + 1 : 0;
    const note = log.searching.value ? t("log.searching") : nothing ? t("log.not.found") : all?.length && text ? t("log.count", { at: at || "?", all: all.length }) : "";
    return (
        <span class="log-search">
            <label class="search">
                <Icon name="search" />
                <span class="hidden-text">{t("log.search")}</span>
                <input
                    type="search"
                    data-search
                    placeholder={t("log.search")}
                    value={text}
                    spellcheck={false}
                    aria-invalid={nothing}
                    onInput={(event) => {
                        const value = event.currentTarget.value;
                        setText(value);
                        setNothing(false);
                        log.found.value = null;
                        clearTimeout(timer.current);
                        timer.current = setTimeout(() => find(value, false), TYPED_MS);
                    }}
                    onKeyDown={(event) => {
                        if (event.key === "Enter") find(text, event.shiftKey);
                        if (event.key === "Escape") event.currentTarget.blur();
                    }}
                />
                <kbd>/</kbd>
            </label>
            <span role="status" class="log-search-note num">
                {note}
            </span>
            <Button icon="up" small title={t("log.previous")} disabled={!text} onClick={() => find(text, true)} />
            <Button icon="down" small title={t("log.next")} disabled={!text} onClick={() => find(text, false)} />
            <Button icon="warning" small title={t("log.error")} onClick={() => void log.toError().then((found) => setNothing(!found))} />
        </span>
    );
}

export function Log({ run, at, onEnd }: { run: Run; at: number | null; onEnd: (run: Run) => void }) {
    const [log, setLog] = useState<LogController | null>(null);
    const [isFull, setFull] = useState(false);
    useEffect(() => {
        const controller = new LogController(run, at, toneOf(run.state) === "bad", onEnd);
        setLog(controller);
        return () => controller.close();
    }, [run.run_id, run.started_at === null]);
    useLayoutEffect(() => {
        const leave = (event: KeyboardEvent): void => {
            if (event.key === "Escape") setFull(false);
        };
        if (isFull) document.addEventListener("keydown", leave);
        return () => document.removeEventListener("keydown", leave);
    }, [isFull]);
    if (!log) return null;
    log.version.value;
    const isEmpty = log.loaded.value && log.model.size === 0;
    const dropped = run.output_truncated && run.output_bytes !== null ? run.output_bytes - log.model.size : 0;
    const unseen = log.unseen.value;
    return (
        <section class={`panel log ${isFull ? "is-full" : ""}`} aria-label={t("log")}>
            <div class="panel-head">
                <h2>{t("log")}</h2>
                <div class="panel-beside">
                    {log.model.size > 0 && <span class="num">{bytesText(log.model.size)}</span>}
                    <Search log={log} />
                    <Button small pressed={wraps.value === "yes"} onClick={() => flip(wraps)}>
                        {t("log.wrap")}
                    </Button>
                    <Button icon="clock" small title={t("log.times")} pressed={times.value === "yes"} onClick={() => flip(times)} />
                    <Button
                        icon="down"
                        small
                        {...(isOpen(run.state) ? { pressed: log.following.value } : {})}
                        onClick={() => (isOpen(run.state) ? log.setFollowing(!log.following.value) : log.toEnd())}
                        title={t("log.follow.text")}
                    >
                        {isOpen(run.state) ? t("log.follow") : t("log.end")}
                    </Button>
                    <Button icon="expand" small title={t("log.full")} pressed={isFull} onClick={() => setFull(!isFull)} />
                    <a class="button small" href={downloadAddress(run.run_id)} target="_blank" rel="noreferrer noopener">
                        {t("log.raw")}
                    </a>
                    <a
                        class="button small only-icon"
                        href={downloadAddress(run.run_id)}
                        download={`${run.job.replace(/\//g, "-")}-${run.run_id}.log`}
                        title={t("log.download")}
                        aria-label={t("log.download")}
                    >
                        <Icon name="download" />
                    </a>
                </div>
            </div>
            {dropped > 0 && <p class="log-note note warn">{t("log.dropped", { bytes: bytesText(dropped) })}</p>}
            {log.absent.value && <p class="log-note note warn">{t("log.absent", { node: log.absent.value })}</p>}
            {log.problem.value && <Failure problem={log.problem.value} />}
            {isEmpty ? (
                <Empty icon="runs" title={isOpen(run.state) ? t("log.nothing.yet") : t("log.nothing")} />
            ) : (
                <Viewport log={log} runId={run.run_id} />
            )}
            {unseen > 0 && (
                <button type="button" class="log-new" onClick={() => log.setFollowing(true)}>
                    <Icon name="down" /> {t("log.new", { n: unseen })}
                </button>
            )}
        </section>
    );
}
