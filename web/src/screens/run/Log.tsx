// The output of a run: a list of lines of which only those in view are drawn.
import { useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { hrefs, setQuery } from "../../app/router";
import { zone } from "../../app/preferences";
import { toastDone } from "../../app/toasts";
import { isOpen, type Run } from "../../api/types";
import { Icon } from "../../ui/icons";
import { Button, Empty, Failure } from "../../ui/parts";
import { bytesText, partsOf } from "../../ui/time";
import { lastDrawn, parseAnsi, type Span, type Style } from "./ansi";
import { LINE_HEIGHT, LogController } from "./log_controller";
import type { Line } from "./log_model";
import { downloadAddress } from "./log_source";
import { t } from "./words";

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
    const parts = needle ? split(span.text, needle) : [span.text];
    const text = parts.map((part, i) => (i % 2 ? <mark key={i}>{part}</mark> : part));
    return classes.length || fg.css || bg.css ? (
        <span class={classes.join(" ")} style={css}>
            {text}
        </span>
    ) : (
        <>{text}</>
    );
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
    const isTarget = log.target.value === line.offset;
    const isStderr = line.mark?.stream === "stderr";
    return (
        <div class={`log-row ${isTarget ? "is-target" : ""} ${isStderr ? "is-stderr" : ""}`}>
            <a
                class="log-time"
                href={hrefs.run(runId, { at: String(line.offset) })}
                title={t("log.line.link", { offset: line.offset })}
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
                {at ? partsOf(Date.parse(at), zone.value).time : line.offset}
            </a>
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

function Viewport({ log, runId }: { log: LogController; runId: string }) {
    const scroller = useRef<HTMLDivElement>(null);
    const ours = useRef(0);
    useComputed(() => log.version.value).value;

    useEffect(() => {
        const element = scroller.current;
        if (!element) return undefined;
        const measure = new ResizeObserver(() => {
            log.viewHeight = element.clientHeight;
            log.rows = Math.max(5, Math.ceil(element.clientHeight / LINE_HEIGHT));
            if (log.following.value || log.atEnd) log.toEnd();
            else log.scrollBy(0);
        });
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
    }, [log]);

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
            class="log-scroller"
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
                                <span class="log-time">·</span>
                            </div>
                        ),
                    )}
                </div>
            </div>
        </div>
    );
}

function Search({ log }: { log: LogController }) {
    const [text, setText] = useState("");
    const [nothing, setNothing] = useState(false);
    const find = (backwards: boolean): void => void log.search(text, backwards).then((found) => setNothing(!found));
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
                        if (!value) void log.search("", false);
                    }}
                    onKeyDown={(event) => {
                        if (event.key === "Enter") find(event.shiftKey);
                        if (event.key === "Escape") event.currentTarget.blur();
                    }}
                />
                <kbd>/</kbd>
            </label>
            <span role="status" class="log-search-note">
                {log.searching.value ? t("log.searching") : nothing ? t("log.not.found") : ""}
            </span>
            <Button icon="up" small title={t("log.previous")} disabled={!text} onClick={() => find(true)} />
            <Button icon="down" small title={t("log.next")} disabled={!text} onClick={() => find(false)} />
        </span>
    );
}

export function Log({ run, at, onEnd }: { run: Run; at: number | null; onEnd: (run: Run) => void }) {
    const [log, setLog] = useState<LogController | null>(null);
    useEffect(() => {
        const controller = new LogController(run, at, onEnd);
        setLog(controller);
        return () => controller.close();
    }, [run.run_id, run.started_at === null]);
    if (!log) return null;
    log.version.value;
    const isEmpty = log.loaded.value && log.model.size === 0;
    const dropped = run.output_truncated && run.output_bytes !== null ? run.output_bytes - log.model.size : 0;
    return (
        <section class="panel log" aria-label={t("log")}>
            <div class="panel-head">
                <h2>{t("log")}</h2>
                <div class="panel-beside">
                    {log.model.size > 0 && <span class="num">{bytesText(log.model.size)}</span>}
                    <Search log={log} />
                    <Button
                        icon="down"
                        small
                        {...(isOpen(run.state) ? { pressed: log.following.value } : {})}
                        onClick={() => (isOpen(run.state) ? log.setFollowing(!log.following.value) : log.toEnd())}
                        title={t("log.follow.text")}
                    >
                        {isOpen(run.state) ? t("log.follow") : t("log.end")}
                    </Button>
                    <a class="button small" href={downloadAddress(run.run_id)} download={`${run.job.replace(/\//g, "-")}-${run.run_id}.log`}>
                        <Icon name="download" />
                        {t("log.download")}
                    </a>
                </div>
            </div>
            {dropped > 0 && <p class="log-note note warn">{t("log.dropped", { bytes: bytesText(dropped) })}</p>}
            {log.problem.value && <Failure problem={log.problem.value} />}
            {isEmpty ? (
                <Empty icon="runs" title={isOpen(run.state) ? t("log.nothing.yet") : t("log.nothing")} />
            ) : (
                <Viewport log={log} runId={run.run_id} />
            )}
        </section>
    );
}
