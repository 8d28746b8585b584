// One node: its facts, its load over the last day, its newest runs.
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import type { Page, Run } from "../../api/types";
import type { ScreenProps } from "../../app/screens";
import { hrefs } from "../../app/router";
import { zone } from "../../app/preferences";
import { Icon } from "../../ui/icons";
import { Moment, momentText, Relative } from "../../ui/moments";
import { Empty, Facts, Failure, Head, Incomplete, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { roughSpan } from "../../ui/spans";
import { LineChart, type ChartPoint } from "../job/LineChart";
import { RunsTable } from "../runs/RunsTable";
import { Running, type NodeLoad } from "./Load";
import { Drain, Lag, NodeState, Skew, type Node } from "./node";
import type { Values } from "./samples";
import { title } from "./titles";
import { t } from "./words";
import "./nodes.css";

const REFRESH_MS = 5000;
const LOAD_MS = 15_000;
const POINTS = 240;
const RUNS = 10;

type LoadAnswer = NodeLoad & { step_s: number; until: string | null };

function Chart(props: { name: "cpu" | "memory" | "running"; values: Values; step: number; until: number }) {
    const { name, values, step, until } = props;
    const [chosen, setChosen] = useState<ChartPoint | null>(null);
    const unit = name === "running" ? "" : " %";
    const from = until - values.length * step;
    const points = values.flatMap((value, i) => (value === null ? [] : [{ at: from + (i + 0.5) * step, value, ok: true }]));
    const last = points.at(-1);
    if (!last) return null;
    const shown = chosen ? `${momentText(new Date(chosen.at).toISOString())} · ${chosen.value}${unit}` : t("now", { value: `${last.value}${unit}` });
    return (
        <>
            <h3>
                {t(`chart.${name}`)} <span class="num faint">{shown}</span>
            </h3>
            <LineChart
                points={points}
                from={from}
                to={until}
                gap={step * 1.5}
                least={name === "running" ? 4 : 100}
                label={`${t(`chart.${name}`)}: ${shown}`}
                format={(value) => `${value}${unit}`}
                onChoose={setChosen}
            />
        </>
    );
}

function Charts({ node }: { node: string }) {
    const found = useResource(`load of ${node}`, (signal) => api.optional<LoadAnswer>(`/nodes/${encodeURIComponent(node)}/load`, { points: POINTS }, signal));
    useEffect(() => {
        const timer = setInterval(found.reload, LOAD_MS);
        return () => clearInterval(timer);
    }, [node]);
    const load = found.data;
    if (found.loading && !load) return null;
    if (!load || load.cpu.length < 2)
        return (
            <Panel title={t("load")}>
                <Empty icon="nodes" title={t("chart.none")} />
            </Panel>
        );
    const axis = { step: load.step_s * 1000, until: Date.parse(load.until!) };
    return (
        <Panel
            title={t("load")}
            beside={
                <span class="faint small">
                    {t("chart.since", { span: roughSpan(load.cpu.length * axis.step) })} · <span class="zone">{zone.value}</span>
                </span>
            }
        >
            <div class="node-charts">
                <Chart name="cpu" values={load.cpu} {...axis} />
                <Chart name="memory" values={load.memory} {...axis} />
                {load.running && <Chart name="running" values={load.running} {...axis} />}
            </div>
        </Panel>
    );
}

export default function NodeScreen({ params }: ScreenProps) {
    const name = params["node"] ?? "";
    const nodes = useResource("nodes", (signal) => api.get<Page<Node>>("/nodes", {}, signal));
    const runs = useResource(`runs on ${name}`, (signal) => api.get<Page<Run>>("/runs", { node: name, limit: RUNS }, signal));
    const soon = useThrottled(nodes.reload, 1000);
    const seldom = useThrottled(runs.reload, REFRESH_MS);
    useEffect(() => {
        const stops = [onLive("node", soon), onLive("reset", soon), onLive("run", seldom)];
        const timer = setInterval(soon, REFRESH_MS);
        return () => {
            stops.forEach((stop) => stop());
            clearInterval(timer);
        };
    }, []);
    if (nodes.problem) return <Failure problem={nodes.problem} onRetry={nodes.reload} />;
    if (!nodes.data) return null;
    const items = nodes.data.items;
    const node = items.find((item) => item.node === name);
    return (
        <>
            <Head
                above={
                    <>
                        <a href="#/nodes">{title("title")}</a>
                        <Icon name="chevron" />
                    </>
                }
                title={name}
                beside={node && <NodeState node={node} />}
            >
                {node && <Drain node={node} nodes={items} onChange={nodes.reload} />}
            </Head>
            {!node && <Empty icon="nodes" title={t("missing", { name })} />}
            {node && (
                <div class="job-column">
                    {node.detail && <p class="note">{node.detail}</p>}
                    <Panel>
                        <div class="panel-body">
                            <Facts
                                rows={[
                                    [t("running"), <Running node={node} />],
                                    [t("heard"), node.self ? t("heard.self") : <Relative at={node.heard_at} />],
                                    [t("since"), <Moment at={node.started_at} />],
                                    [t("version"), node.version ?? "–"],
                                    [t("skew"), <Skew ms={node.skew_ms} />],
                                    [t("lag"), <Lag ms={node.watch_lag_ms} />],
                                    [t("wait"), node.cpu_pressure === null ? "–" : t("wait.text", { cpu: node.cpu_pressure, memory: node.memory_pressure ?? 0 })],
                                    [t("labels"), Object.entries(node.labels).map(([label, value]) => <span class="label">{value === "" ? label : `${label}=${value}`}</span>)],
                                ]}
                            />
                        </div>
                    </Panel>
                    <Charts node={name} />
                    <Panel title={t("runs")} beside={<a href={hrefs.runs({ node: name })}>{t("runs.all")}</a>}>
                        <Incomplete nodes={runs.data?.incomplete} />
                        {runs.data && (runs.data.items.length ? <RunsTable rows={runs.data.items} /> : <Empty icon="runs" title={t("runs.none")} />)}
                    </Panel>
                </div>
            )}
        </>
    );
}
