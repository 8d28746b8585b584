// The nodes of the cluster: leader, states, load.
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import type { Page } from "../../api/types";
import { may } from "../../app/session";
import { attempt, toastDone } from "../../app/toasts";
import { t as common } from "../../i18n/common";
import { Icon, type IconName } from "../../ui/icons";
import { Moment, Relative } from "../../ui/moments";
import { Button, Dialog, Facts, Failure, Head, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import type { Tone } from "../../ui/status";
import { ClockTrouble, Troubles, Wellness, type Clock, type Health } from "../../ui/trouble";
import { useLatencies } from "./Latency";
import { Load } from "./Load";
import { Clocks, RunsByNode } from "./Pictures";
import { title } from "./titles";
import { t } from "./words";
import "./nodes.css";

const REFRESH_MS = 5000;
const SLOW_MS = 60_000; // what reads the history
const SKEW_WARN_MS = 100;
const LAG_WARN_MS = 1000;

interface Node {
    node: string;
    state: string;
    detail: string | null;
    self: boolean;
    leader: boolean;
    drained: boolean;
    heard_at: string | null;
    skew_ms: number | null;
    watch_lag_ms: number | null;
    history: string; // "shared", "own", or why it can't be read
    running: number;
    max_running: number;
    capacity: number;
    free: number; // percent of the capacity, as jobs with place: least_loaded count it
    cpu_pressure: number | null;
    memory_pressure: number | null;
    labels: Record<string, string>;
    version: string | null;
    program?: string | null; // whose process it is, and whose functions alone it runs
    program_version?: number | null;
    address: string | null;
    started_at: string | null;
}

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

const looks: Record<string, { icon: IconName; tone: Tone }> = {
    ready: { icon: "check", tone: "good" },
    draining: { icon: "hourglass", tone: "warn" },
    drained: { icon: "pause", tone: "warn" },
    gone: { icon: "cross", tone: "bad" },
    api: { icon: "circle", tone: "calm" },
    stopping: { icon: "stop", tone: "warn" },
    clock: { icon: "clock", tone: "bad" },
    clock_doubt: { icon: "clock", tone: "bad" },
    spawner: { icon: "warning", tone: "bad" },
    full: { icon: "hourglass", tone: "busy" },
    shut_out: { icon: "warning", tone: "bad" }, // another agent, in another row, uses its name
};

function NodeState({ node }: { node: Node }) {
    const look = looks[node.state] ?? { icon: "question", tone: "calm" };
    const key = `state.${node.state}`;
    return (
        <span class={`status tone-${look.tone}`} title={node.detail ?? undefined}>
            <Icon name={look.icon} />
            <span>{t.has(key) ? t(key) : node.state}</span>
        </span>
    );
}

function Skew({ ms }: { ms: number | null }) {
    if (ms === null) return <span class="faint">{t("skew.unknown")}</span>;
    const sign = ms > 0 ? "+" : ms < 0 ? "−" : "±";
    const isOff = Math.abs(ms) >= SKEW_WARN_MS;
    return (
        <span class={`num ${isOff ? "tone-warn" : ""}`} title={t("skew.text")}>
            {isOff && <Icon name="warning" />} {sign}
            {spanText(Math.abs(ms))}
        </span>
    );
}

// The watch lag.
function Lag({ ms }: { ms: number | null }) {
    if (ms === null) return <span class="faint">–</span>;
    const isLate = ms >= LAG_WARN_MS;
    return (
        <span class={`num ${isLate ? "tone-warn" : ""}`} title={t("lag.text")}>
            {isLate && <Icon name="warning" />} {spanText(ms)}
        </span>
    );
}

function NodeRow({ node, at, onDrain, onUndrain }: { node: Node; at: number; onDrain: () => void; onUndrain: () => void }) {
    return (
        <tr>
            <td>
                <NodeState node={node} />
            </td>
            <td class="node-name">
                <strong>{node.node}</strong> {node.leader && <span class="label leader">{t("leader")}</span>}{" "}
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
                <Load node={node} at={at} />
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
                {may("admin") && node.state !== "shut_out" && (
                    <Button small icon={node.drained ? "play" : "pause"} onClick={node.drained ? onUndrain : onDrain}>
                        {t(node.drained ? "undrain" : "drain")}
                    </Button>
                )}
            </td>
        </tr>
    );
}

function DrainDialog({ node, nodes, onDo, onClose }: { node: Node; nodes: Node[]; onDo: () => void; onClose: () => void }) {
    const isLast = !nodes.some((other) => other.node !== node.node && other.state === "ready");
    return (
        <Dialog
            title={t("drain.ask", { name: node.node })}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{common("cancel")}</Button>
                    <Button kind={isLast ? "danger" : "primary"} icon="pause" onClick={onDo}>
                        {t("drain")}
                    </Button>
                </>
            }
        >
            <p>{t("drain.text")}</p>
            {node.running > 0 && <p>{t("drain.running", { n: node.running })}</p>}
            {isLast && <p class="note bad">{t("drain.last")}</p>}
        </Dialog>
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
                <ClockTrouble clock={cluster.clock} />
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
    const [asked, setAsked] = useState<Node | null>(null);
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
    const tell = (node: Node, what: "drain" | "undrain"): void => {
        setAsked(null);
        void attempt(async () => {
            await api.post(`/nodes/${encodeURIComponent(node.node)}/${what}`);
            toastDone(t(`${what}.done`, { name: node.node }), what === "drain" ? () => tell(node, "undrain") : undefined);
            reload();
        });
    };
    const items = nodes.data?.items ?? [];
    const readAt = useMemo(() => Date.now(), [nodes.data]);
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
                                        at={readAt}
                                        onDrain={() => setAsked(node)}
                                        onUndrain={() => tell(node, "undrain")}
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
            {asked && <DrainDialog node={asked} nodes={items} onDo={() => tell(asked, "drain")} onClose={() => setAsked(null)} />}
        </>
    );
}
