// Lanes of jobs or groups over one axis. Shapes tell what colours tell: what was not ok is taller, what did
// not run is hollow, what comes is a thin line; many marks are bars whose height is how many they are.
import { useRef, useState } from "preact/hooks";
import { zone } from "../../app/preferences";
import { go, hrefs } from "../../app/router";
import { someTicks } from "../../ui/axis";
import { now } from "../../ui/clock";
import { spanText } from "../../ui/spans";
import { stateWord } from "../../ui/status";
import { fullTime, partsOf } from "../../ui/time";
import { countOf, type Kind, type Mark, type Row } from "./axis";
import { total, type Bar, type Lane } from "./rates";
import { t } from "./words";

const ROW = 26;
const AXIS = 22;
const LANES_MAX = 60;
const TICKS = 7;
const BAR = ROW - 6;
const DRAG_MIN = 8; // px; less is a click

const heights: Record<Kind, number> = { ok: 10, bad: 18, open: 10, missed: 12, tick: 10 };

function markTip(mark: Mark, job: string): string[] {
    const state = mark.kind === "tick" ? t("coming") : stateWord((mark.run ?? mark.entry)?.state ?? "ok");
    const count = mark.entry && mark.entry.count > 1 ? ` (${t("missed.n", { n: mark.entry.count })})` : "";
    const took = mark.run?.started_at && mark.run.finished_at ? t("tip.took", { span: spanText(mark.to - mark.from) }) : "";
    return [job, state + count, fullTime(mark.from, zone.value), [took, mark.run?.node].filter(Boolean).join(" · ")].filter(Boolean);
}

function barTime({ from, to }: Bar): string {
    const [a, b] = [partsOf(from, zone.value), partsOf(to, zone.value)];
    return `${a.date} ${a.time.slice(0, 5)} – ${a.date === b.date ? "" : `${b.date} `}${b.time.slice(0, 5)} ${b.zone}`;
}

function barTip(bar: Bar, name: string): string[] {
    const part = (kind: "ok" | "bad" | "missed" | "ticks"): string | null => (bar[kind] > 0 ? `${Math.max(1, Math.round(bar[kind]))} ${t(`legend.${kind === "ticks" ? "tick" : kind}`)}` : null);
    return [name, (["ok", "bad", "missed", "ticks"] as const).map(part).filter(Boolean).join(" · "), barTime(bar)];
}

function MarkShape({ mark, index, row, percent }: { mark: Mark; index: string; row: number; percent: (ms: number) => number }) {
    const height = heights[mark.kind];
    const left = Math.max(0, percent(mark.from));
    const width = Math.min(100, percent(mark.to)) - left;
    return (
        <rect
            class={`mark mark-${mark.kind}`}
            x={`${left}%`}
            y={AXIS + row * ROW + (ROW - height) / 2}
            height={height}
            rx={mark.kind === "tick" ? 0 : 1.5}
            style={{ width: mark.kind === "tick" ? "1.5px" : `max(${mark.kind === "missed" ? 5 : 3}px, ${width}%)` }}
            data-mark={index}
            data-href={mark.run ? hrefs.run(mark.run.run_id) : ""}
        />
    );
}

// What was not ok stands on top of what was, and has at least two pixels.
function BarShape({ bar, index, row, most, percent }: { bar: Bar; index: string; row: number; most: number; percent: (ms: number) => number }) {
    const floor = AXIS + (row + 1) * ROW - 3;
    let used = 0;
    const parts = (["ok", "ticks", "missed", "bad"] as const).map((kind) => {
        const height = bar[kind] > 0 ? Math.max(2, (bar[kind] / most) * BAR) : 0;
        used += height;
        return { kind, height, y: floor - used };
    });
    return (
        <g data-mark={index}>
            {parts.map(
                ({ kind, height, y }) =>
                    height > 0 && (
                        <rect key={kind} class={`rate rate-${kind}`} x={`${percent(bar.from)}%`} y={y} height={height} style={{ width: `calc(${percent(bar.to) - percent(bar.from)}% - 0.5px)` }} />
                    ),
            )}
        </g>
    );
}

// Apart, since it moves every second.
function NowLine({ percent, height }: { percent: (ms: number) => number; height: number }) {
    const at = percent(now.value);
    if (at < 0 || at > 100) return null;
    return <line class="now-line" x1={`${at}%`} x2={`${at}%`} y1={AXIS - 4} y2={height} />;
}

export function Legend() {
    return (
        <p class="timeline-legend faint">
            {(["ok", "bad", "open", "missed", "tick"] as const).map((kind) => (
                <span key={kind}>
                    <svg width="10" height="18" aria-hidden="true">
                        <rect class={`mark mark-${kind}`} x="1" y={(18 - heights[kind]) / 2} width={kind === "tick" ? 1.5 : 8} height={heights[kind]} rx="1.5" />
                    </svg>
                    {t(`legend.${kind}`)}
                </span>
            ))}
        </p>
    );
}

function axisText(at: number): string {
    const parts = partsOf(at, zone.value);
    return parts.time === "00:00:00" ? parts.date.slice(5) : parts.time.slice(0, 5);
}

interface Props {
    lanes: Lane[];
    rows: Row[];
    from: number;
    to: number;
    hrefOf: (lane: Lane) => string;
    onKey: (key: string) => boolean;
    onZoom: (from: number, to: number) => void;
}

export function Chart(props: Props) {
    const { from, to } = props;
    const lanes = props.lanes.slice(0, LANES_MAX);
    const [tip, setTip] = useState<{ x: number; y: number; lines: string[] } | null>(null);
    const [drag, setDrag] = useState<{ from: number; to: number } | null>(null); // parts of the width
    const percent = (ms: number): number => ((ms - from) * 100) / (to - from);
    const height = AXIS + lanes.length * ROW;
    const label = t("chart", {
        from: fullTime(from, zone.value),
        to: fullTime(to, zone.value),
        runs: countOf(props.rows, ["ok", "bad", "open"]),
        missed: countOf(props.rows, ["missed"]),
        ticks: countOf(props.rows, ["tick"]),
        jobs: props.rows.length,
    });
    const partAt = (event: PointerEvent & { currentTarget: Element }): number => {
        const box = event.currentTarget.getBoundingClientRect();
        return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    };
    const show = (event: PointerEvent): void => {
        const found = (event.target as Element).closest<SVGElement>("[data-mark]")?.dataset["mark"]?.split(" ").map(Number);
        const lane = found && lanes[found[0] ?? 0];
        if (!lane || drag) return setTip(null);
        const at = found[1] ?? 0;
        const bar = lane.bars?.[at];
        const mark = lane.marks[at];
        const lines = lane.bars ? bar && barTip(bar, lane.name) : mark && markTip(mark, mark.run?.job ?? mark.entry?.job ?? lane.name);
        setTip(lines ? { x: event.clientX, y: event.clientY, lines } : null);
    };
    const wasDrag = useRef(false);
    const drop = (): void => {
        wasDrag.current = drag !== null;
        if (!drag) return;
        const [a, b] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
        setDrag(null);
        if (b > a) props.onZoom(from + a * (to - from), from + b * (to - from));
    };
    const open = (event: Event): void => {
        if (wasDrag.current) return;
        const element = (event.target as Element).closest<SVGElement>("[data-mark]");
        const [row = -1, at = -1] = element?.dataset["mark"]?.split(" ").map(Number) ?? [];
        const lane = lanes[row];
        const bar = lane?.bars?.[at];
        const href = element?.dataset["href"];
        if (bar) props.onZoom(bar.from - (bar.to - bar.from), bar.to + (bar.to - bar.from));
        else if (href) go(href);
        else if (lane) go(props.hrefOf(lane));
    };
    return (
        <>
            <div class="timeline-chart">
                <ul class="timeline-jobs">
                    {lanes.map((lane) => (
                        <li key={lane.name}>
                            <a data-row href={props.hrefOf(lane)} title={lane.name}>
                                {lane.name}
                            </a>{" "}
                            {lane.jobs.length > 1 && <span class="faint small num">{lane.jobs.length}</span>}
                        </li>
                    ))}
                </ul>
                <div
                    class="timeline-area"
                    tabIndex={0}
                    role="group"
                    aria-label={t("keys")}
                    onKeyDown={(event) => {
                        if (!event.ctrlKey && !event.metaKey && !event.altKey && props.onKey(event.key)) event.preventDefault();
                    }}
                >
                    <svg
                        width="100%"
                        height={height}
                        role="img"
                        aria-label={label}
                        onClick={open}
                        onPointerDown={(event) => {
                            if (event.button !== 0 || event.pointerType === "touch") return;
                            const area = event.currentTarget;
                            const begun = { x: event.clientX, part: partAt(event) };
                            const move = (next: PointerEvent): void => {
                                if (Math.abs(next.clientX - begun.x) < DRAG_MIN) return;
                                const box = area.getBoundingClientRect();
                                setTip(null);
                                setDrag({ from: begun.part, to: Math.min(1, Math.max(0, (next.clientX - box.left) / box.width)) });
                            };
                            const up = (): void => {
                                window.removeEventListener("pointermove", move);
                                window.removeEventListener("pointerup", up);
                            };
                            window.addEventListener("pointermove", move);
                            window.addEventListener("pointerup", up);
                        }}
                        onPointerMove={show}
                        onPointerLeave={() => setTip(null)}
                        onPointerUp={drop}
                    >
                        {lanes.map((lane, i) => i % 2 === 0 && <rect key={lane.name} class="stripe" x="0" y={AXIS + i * ROW} width="100%" height={ROW} />)}
                        {someTicks(from, to, TICKS, zone.value).map((at) => (
                            <g key={at}>
                                <line class="grid-line" x1={`${percent(at)}%`} x2={`${percent(at)}%`} y1={AXIS} y2={height} />
                                {Math.abs(percent(at) - 50) < 48 && (
                                    <text x={`${percent(at)}%`} y={14}>
                                        {axisText(at)}
                                    </text>
                                )}
                            </g>
                        ))}
                        {lanes.map((lane, i) => {
                            if (!lane.bars) return lane.marks.map((mark, n) => <MarkShape key={n} mark={mark} index={`${i} ${n}`} row={i} percent={percent} />);
                            const most = Math.max(...lane.bars.map(total));
                            return lane.bars.map((bar, n) => total(bar) > 0 && <BarShape key={n} bar={bar} index={`${i} ${n}`} row={i} most={most} percent={percent} />);
                        })}
                        <NowLine percent={percent} height={height} />
                        {drag && (
                            <rect class="timeline-drag" x={`${Math.min(drag.from, drag.to) * 100}%`} y={AXIS} width={`${Math.abs(drag.to - drag.from) * 100}%`} height={height - AXIS} />
                        )}
                    </svg>
                </div>
            </div>
            {tip && (
                <div class={`timeline-tip ${tip.x > window.innerWidth - 260 ? "is-left" : ""}`} style={{ left: `${tip.x}px`, top: `${tip.y}px` }} aria-hidden="true">
                    {tip.lines.map((line, i) => (i ? <span key={i}>{line}</span> : <strong key={i}>{line}</strong>))}
                </div>
            )}
            {props.lanes.length > lanes.length && <p class="faint panel-body">{t("jobs.more", { n: props.lanes.length - lanes.length })}</p>}
        </>
    );
}
