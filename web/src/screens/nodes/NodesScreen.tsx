// The nodes of the cluster: leader, states, load.
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import type { Page } from "../../api/types";
import { href } from "../../app/router";
import { may } from "../../app/session";
import { attempt } from "../../app/toasts";
import { t as common } from "../../i18n/common";
import { Icon } from "../../ui/icons";
import { Moment, Relative } from "../../ui/moments";
import { Button, Dialog, Facts, Failure, Head, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { ClockTrouble, Troubles, Wellness, type Clock, type Health } from "../../ui/trouble";
import { useLatencies } from "./Latency";
import { Load, useLoads, type NodeLoad } from "./Load";
import { Drain, Lag, NodeState, Skew, type Node } from "./node";
import { Clocks, RunsByNode } from "./Pictures";
import { title } from "./titles";
import { t } from "./words";
import "./nodes.css";

const REFRESH_MS = 5000;
const SLOW_MS = 60_000; // what reads the history

interface Cluster {
    store: Health & { kind: string; url: string | null; halted: boolean };
    history: Health;
    clock?: Clock;
    leader: string | null;
    skew_ms: number;
    clock_ok: boolean;
    jobs: number;
    open_runs: number;
}

function NodeRow({ node, load, nodes, onChange }: { node: Node; load: NodeLoad | undefined; nodes: Node[]; onChange: () => void }) {
    return (
        <tr>
            <td>
                <NodeState node={node} />
            </td>
            <td class="node-name">
                <a data-row href={href(`/nodes/${encodeURIComponent(node.node)}`)}>
                    {node.node}
                </a>{" "}
                {node.leader && <span class="label leader">{t("leader")}</span>}{" "}
                {node.self && <span class="label">{t("self")}</span>}{" "}
                {node.program && (
                    <span class="label" title={t("program.text")}>
                        {t("program", { name: node.program, version: node.program_version ? ` ${node.program_version}` : "" })}
                    </span>
                )}
                <p class="faint small">{[node.version && `peal ${node.version}`, node.address].filter(Boolean).join(" · ")}</p>
                <p class="faint small">
                    {t("since")} <Moment at={node.started_at} />
                </p>
                {node.detail && <p class="faint small">{node.detail}</p>}
                {node.state !== "gone" && !["shared", "own"].includes(node.history) && (
                    <p class="small tone-warn">{t("history.away", { why: node.history })}</p>
                )}
            </td>
            <td data-label={t("running")}>
                <Load node={node} load={load} />
            </td>
            <td data-label={t("heard")}>{node.self ? <span class="faint">{t("heard.self")}</span> : <Relative at={node.heard_at} />}</td>
            <td data-label={t("skew")}>
                <Skew ms={node.skew_ms} />
            </td>
            <td data-label={t("lag")}>
                <Lag ms={node.watch_lag_ms} />
            </td>
            <td>
                {Object.entries(node.labels).map(([name, value]) => (
                    <span key={name} class="label">
                        {value === "" ? name : `${name}=${value}`}
                    </span>
                ))}
            </td>
            <td class="right">
                <Drain node={node} nodes={nodes} onChange={onChange} />
            </td>
        </tr>
    );
}

// "0.1.0", or how many nodes have which.
function versionsOf(nodes: Node[]): string {
    const counts = new Map<string, number>();
    for (const { version, state } of nodes) if (version && state !== "gone") counts.set(version, (counts.get(version) ?? 0) + 1);
    return [...counts].map(([version, n]) => (counts.size > 1 ? `${version} × ${n}` : version)).join(", ");
}

function Spread({ nodes }: { nodes: Node[] }) {
    const text = versionsOf(nodes);
    const isMixed = text.includes(",");
    return (
        <span class={isMixed ? "tone-warn" : ""} title={isMixed ? t("versions.mixed") : undefined}>
            {isMixed && <Icon name="warning" />} {text}
        </span>
    );
}

function ClusterPanel({ cluster, nodes, turn, onChange }: { cluster: Cluster; nodes: Node[]; turn: number; onChange: () => void }) {
    const [asked, setAsked] = useState(false);
    const latencies = useLatencies(turn);
    const { store, history } = cluster;
    const goOn = (): void => {
        setAsked(false);
        void attempt(() => api.post("/cluster/advance-cursors")).then(onChange);
    };
    return (
        <Panel title={t("cluster")} class="cluster">
            <div class="panel-body">
                {store.halted && (
                    <div class="note bad halted" role="alert">
                        <p>{t("halted")}</p>
                        {may("admin") && <Button onClick={() => setAsked(true)}>{t("halted.do")}</Button>}
                    </div>
                )}
                <Troubles store={store} history={history} />
                <ClockTrouble clock={cluster.clock} skewMs={cluster.skew_ms} />
                <Facts
                    rows={[
                        [
                            t("store"),
                            <>
                                <Wellness of={store} name={store.kind} />
                                {latencies.store && <p class="faint small">{latencies.store}</p>}
                            </>,
                        ],
                        [
                            t("history"),
                            <>
                                <Wellness of={history} />
                                {latencies.history && <p class="faint small">{latencies.history}</p>}
                            </>,
                        ],
                        [t("leads"), cluster.leader ?? t("leads.none")],
                        [t("versions"), <Spread nodes={nodes} />],
                        [t("jobs"), cluster.jobs],
                        [t("open"), cluster.open_runs],
                        [
                            t("clock"),
                            <span class={`status tone-${cluster.clock_ok ? "good" : "bad"}`}>
                                <Icon name={cluster.clock_ok ? "check" : "warning"} />
                                <span>{t("clock.ok", { span: spanText(Math.abs(cluster.skew_ms)) })}</span>
                            </span>,
                        ],
                    ]}
                />
            </div>
            {asked && (
                <Dialog
                    title={t("halted.ask")}
                    onClose={() => setAsked(false)}
                    actions={
                        <>
                            <Button onClick={() => setAsked(false)}>{common("cancel")}</Button>
                            <Button kind="primary" onClick={goOn}>
                                {t("halted.do").replace("…", "")}
                            </Button>
                        </>
                    }
                >
                    <p>{t("halted.text")}</p>
                </Dialog>
            )}
        </Panel>
    );
}

export default function NodesScreen() {
    const nodes = useResource("nodes", (signal) => api.get<Page<Node>>("/nodes", {}, signal));
    const cluster = useResource("cluster", (signal) => api.get<Cluster>("/cluster", {}, signal));
    const loads = useLoads();
    const reload = (): void => {
        nodes.reload();
        cluster.reload();
    };
    const [slow, setSlow] = useState(0);
    const soon = useThrottled(reload, 1000);
    useEffect(() => {
        const stops = [onLive("node", soon), onLive("clock", soon), onLive("run", soon), onLive("reset", soon)];
        const timer = setInterval(soon, REFRESH_MS);
        const slowly = setInterval(() => setSlow((n) => n + 1), SLOW_MS);
        return () => {
            stops.forEach((stop) => stop());
            clearInterval(timer);
            clearInterval(slowly);
        };
    }, []);
    const items = nodes.data?.items ?? [];
    const offsets = items.flatMap(({ node, skew_ms: ms, state }) => (ms === null || state === "gone" || state === "shut_out" ? [] : [{ node, ms }]));
    return (
        <>
            <Head title={title("title")} />
            {nodes.problem && <Failure problem={nodes.problem} onRetry={nodes.reload} />}
            {cluster.data && <ClusterPanel cluster={cluster.data} nodes={items} turn={slow} onChange={reload} />}
            {items.length > 0 && (
                <Panel>
                    <div class="table-scroll" tabIndex={0} role="region" aria-label={title("title")}>
                        <table class="table nodes-table">
                            <thead>
                                <tr>
                                    <th>{t("state")}</th>
                                    <th>{t("node")}</th>
                                    <th>{t("running")}</th>
                                    <th>{t("heard")}</th>
                                    <th>{t("skew")}</th>
                                    <th>{t("lag")}</th>
                                    <th>{t("labels")}</th>
                                    <th />
                                </tr>
                            </thead>
                            <tbody>
                                {items.map((node) => (
                                    <NodeRow
                                        key={`${node.node} ${node.state === "shut_out"}`}
                                        node={node}
                                        load={node.state === "shut_out" ? undefined : loads.get(node.node)}
                                        nodes={items}
                                        onChange={reload}
                                    />
                                ))}
                            </tbody>
                        </table>
                    </div>
                </Panel>
            )}
            <div class="node-pictures">
                <RunsByNode turn={slow} />
                {offsets.length > 1 && <Clocks offsets={offsets} />}
            </div>
        </>
    );
}
