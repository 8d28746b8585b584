// Rows of jobs over one axis. Shapes tell what colours tell: what was not ok is taller, what did not
// run is hollow, what comes is a thin line.
import { zone } from "../../app/preferences";
import { go, hrefs } from "../../app/router";
import { axisTicks } from "../../ui/axis";
import { now } from "../../ui/clock";
import { stateWord } from "../../ui/status";
import { fullTime, partsOf } from "../../ui/time";
import { countOf, type Kind, type Mark, type Row, type Span } from "./axis";
import { t } from "./words";

const ROW = 26;
const AXIS = 22;
const ROWS_MAX = 60;

const heights: Record<Kind, number> = { ok: 10, bad: 18, open: 10, missed: 12, tick: 10 };

function titleOf(mark: Mark, job: string): string {
    const state = mark.kind === "tick" ? t("coming") : stateWord((mark.run ?? mark.entry)?.state ?? "ok");
    const count = mark.entry && mark.entry.count > 1 ? ` (${t("missed.n", { n: mark.entry.count })})` : "";
    return t("mark", { state: state + count, job, time: fullTime(mark.from, zone.value) });
}

function MarkShape({ mark, job, row, percent }: { mark: Mark; job: string; row: number; percent: (ms: number) => number }) {
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
            data-href={mark.run ? hrefs.run(mark.run.run_id) : hrefs.job(job)}
        >
            <title>{titleOf(mark, job)}</title>
        </rect>
    );
}

function axisText(at: number, span: Span): string {
    const parts = partsOf(at, zone.value);
    return span.step >= 86_400_000 || parts.time === "00:00:00" ? parts.date.slice(5) : parts.time.slice(0, 5);
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

export function Chart(props: { rows: Row[]; from: number; to: number; span: Span; onKey: (key: string) => boolean }) {
    const { from, to, span } = props;
    const rows = props.rows.slice(0, ROWS_MAX);
    const percent = (ms: number): number => ((ms - from) * 100) / (to - from);
    const height = AXIS + rows.length * ROW;
    const label = t("chart", {
        from: fullTime(from, zone.value),
        to: fullTime(to, zone.value),
        runs: countOf(props.rows, ["ok", "bad", "open"]),
        missed: countOf(props.rows, ["missed"]),
        ticks: countOf(props.rows, ["tick"]),
        jobs: props.rows.length,
    });
    return (
        <>
            <div class="timeline-chart">
                <ul class="timeline-jobs">
                    {rows.map((row) => (
                        <li key={row.job}>
                            <a data-row href={hrefs.job(row.job)} title={row.job}>
                                {row.job}
                            </a>
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
                        onClick={(event) => {
                            const target = (event.target as Element).closest<SVGElement>("[data-href]");
                            if (target?.dataset["href"]) go(target.dataset["href"]);
                        }}
                    >
                        {rows.map((row, i) => i % 2 === 0 && <rect key={row.job} class="stripe" x="0" y={AXIS + i * ROW} width="100%" height={ROW} />)}
                        {axisTicks(from, to, span.step, zone.value).map((at) => (
                            <g key={at}>
                                <line class="grid-line" x1={`${percent(at)}%`} x2={`${percent(at)}%`} y1={AXIS} y2={height} />
                                <text x={`${percent(at)}%`} y={14}>
                                    {axisText(at, span)}
                                </text>
                            </g>
                        ))}
                        {rows.map((row, i) =>
                            row.marks.map((mark, n) => <MarkShape key={n} mark={mark} job={row.job} row={i} percent={percent} />),
                        )}
                        <NowLine percent={percent} height={height} />
                    </svg>
                </div>
            </div>
            {props.rows.length > rows.length && <p class="faint panel-body">{t("jobs.more", { n: props.rows.length - rows.length })}</p>}
        </>
    );
}
