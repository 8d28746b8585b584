// Durations of the runs, and the success rate.
import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { Entry, Run } from "../../api/types";
import { isDark, zone } from "../../app/preferences";
import { go, hrefs } from "../../app/router";
import { momentText } from "../../ui/moments";
import { Empty, Panel } from "../../ui/parts";
import { spanText } from "../../ui/spans";
import { partsOf } from "../../ui/time";
import { axisOf, pointsOf, quantile, type Point } from "./figures";
import { t } from "./words";

// Charts are drawn on a canvas, which does not know the names of colours.
function colourOf(element: Element, name: string): string {
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    element.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value;
}

function optionsFor(element: HTMLElement, points: Point[], onPoint: (at: number | null) => void): uPlot.Options {
    const ink = colourOf(element, "--ink-2");
    const line = colourOf(element, "--line");
    const good = colourOf(element, "--good-mark");
    const bad = colourOf(element, "--bad-mark");
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "11px system-ui" };
    return {
        width: element.clientWidth,
        height: 150,
        padding: [8, 28, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { show: true } },
        hooks: { setCursor: [(chart) => onPoint(chart.cursor.idx ?? null)] },
        scales: { x: { range: () => axisOf(points) }, y: { range: (_chart, _low, high) => [0, Math.max(high * 1.1, 0.01)] } },
        axes: [
            {
                ...axis,
                space: 90,
                size: 30,
                values: (_chart, ticks) =>
                    ticks.map((at) => {
                        const parts = partsOf(at * 1000, zone.value);
                        return parts.time.endsWith(":00") && parts.time.startsWith("00:00")
                            ? parts.date.slice(5)
                            : parts.time.replace(/:00$/, "");
                    }),
            },
            { ...axis, size: 62, values: (_chart, ticks) => ticks.map((s) => spanText(s * 1000)) },
        ],
        series: [
            {},
            { label: t("trend.ok"), stroke: good, width: 1.5, points: { size: 5, fill: good, stroke: good }, spanGaps: true },
            // Hollow and larger: to be told from the others without colour.
            { label: t("trend.bad"), stroke: bad, width: 0, points: { show: true, size: 9, width: 2, fill: "transparent", stroke: bad } },
        ],
    };
}

function Chart({ points, label }: { points: Point[]; label: string }) {
    const root = useRef<HTMLDivElement>(null);
    const dark = isDark.value;
    const shownZone = zone.value;
    const [at, setAt] = useState<number | null>(null);
    useEffect(() => {
        const element = root.current;
        if (!element) return undefined;
        let chart: uPlot | null = null;
        let gone = false;
        const resize = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height: 150 }));
        const draw = (Plot: typeof uPlot): void => {
            if (gone) return;
            const data: uPlot.AlignedData = [
                points.map((point) => point.at / 1000),
                points.map((point) => (point.ok ? point.ms / 1000 : null)),
                points.map((point) => (point.ok ? null : point.ms / 1000)),
            ];
            chart = new Plot(optionsFor(element, points, setAt), data, element);
            resize.observe(element);
        };
        // It is not loaded while the agent is away, and drawn once there is news.
        void Promise.all([import("uplot"), import("uplot/dist/uPlot.min.css")]).then(([module]) => draw(module.default), () => undefined);
        return () => {
            gone = true;
            resize.disconnect();
            chart?.destroy();
        };
    }, [points.length, points[points.length - 1]?.at, dark, shownZone]);
    const point = at === null ? undefined : points[at];
    return (
        <>
            <div class={`chart ${point ? "is-link" : ""}`} role="img" aria-label={label} onClick={() => point && go(hrefs.run(point.run))}>
                <div ref={root} />
            </div>
            <p class="chart-point num faint" aria-hidden="true">
                {point ? `${momentText(new Date(point.at).toISOString())} · ${spanText(point.ms)} · ${t(point.ok ? "trend.ok" : "trend.bad")}` : t("trend.hint")}
            </p>
        </>
    );
}

export function Trend({ rows }: { rows: (Run | Entry)[] }) {
    const points = pointsOf(rows);
    if (!points.length)
        return (
            <Panel title={t("trend")}>
                <Empty icon="runs" title={t("trend.none")} />
            </Panel>
        );
    const spans = points.map((point) => point.ms);
    const ok = points.filter((point) => point.ok).length;
    const percent = Math.floor((ok * 1000) / points.length) / 10;
    const p50 = spanText(quantile(spans, 0.5));
    const max = spanText(Math.max(...spans));
    return (
        <Panel title={t("trend")} beside={<span class="zone">{zone.value}</span>}>
            <dl class="figures">
                <div>
                    <dt>{t("rate")}</dt>
                    <dd>{t("rate.value", { percent, n: points.length })}</dd>
                </div>
                <div>
                    <dt>{t("p50")}</dt>
                    <dd>{p50}</dd>
                </div>
                <div>
                    <dt>{t("p95")}</dt>
                    <dd>{spanText(quantile(spans, 0.95))}</dd>
                </div>
                <div>
                    <dt>{t("longest")}</dt>
                    <dd>{max}</dd>
                </div>
            </dl>
            <Chart points={points} label={t("trend.text", { n: points.length, p50, max })} />
        </Panel>
    );
}
