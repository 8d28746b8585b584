// Durations of the runs, and the success rate.
import { useState } from "preact/hooks";
import type { Entry, Run } from "../../api/types";
import { zone } from "../../app/preferences";
import { go, hrefs } from "../../app/router";
import { momentText } from "../../ui/moments";
import { Empty, Panel } from "../../ui/parts";
import { spanText } from "../../ui/spans";
import { axisOf, byNode, pointsOf, quantile, type Point } from "./figures";
import { LineChart } from "./LineChart";
import { t } from "./words";

function Chart({ points, label }: { points: Point[]; label: string }) {
    const [point, setPoint] = useState<Point | null>(null);
    const [from, to] = axisOf(points);
    return (
        <>
            <LineChart
                points={points.map((item) => ({ ...item, value: item.ms }))}
                from={from * 1000}
                to={to * 1000}
                label={label}
                format={spanText}
                onChoose={setPoint}
                onOpen={(item) => go(hrefs.run(item.run))}
            />
            <p class="chart-point num faint" aria-hidden="true">
                {point ? `${momentText(new Date(point.at).toISOString())} · ${spanText(point.ms)} · ${t(point.ok ? "trend.ok" : "trend.bad")}` : t("trend.hint")}
            </p>
        </>
    );
}

// Where the runs went, if there was a choice.
function Nodes({ rows }: { rows: (Run | Entry)[] }) {
    const nodes = byNode(rows);
    if (nodes.length < 2) return null;
    const all = nodes.reduce((sum, { n }) => sum + n, 0);
    return (
        <dl class="run-nodes">
            <dt>{t("by.node")}</dt>
            {nodes.map(({ node, n }) => (
                <dd key={node}>
                    <a href={hrefs.runs({ node })}>{node}</a>
                    <span class="run-nodes-bar">
                        <i style={{ width: `${(n * 100) / all}%` }} />
                    </span>
                    <span class="num">
                        {n} <span class="faint">{Math.round((n * 100) / all)} %</span>
                    </span>
                </dd>
            ))}
        </dl>
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
            <Nodes rows={rows} />
        </Panel>
    );
}
