// What keeps jobs from running, or messages from arriving: store, history, clock, disk, nodes, channels.
import { api } from "../../api/client";
import type { Page } from "../../api/types";
import { href } from "../../app/router";
import { may } from "../../app/session";
import { momentText } from "../../ui/moments";
import { useResource } from "../../ui/resource";
import { Alarm, ClockTrouble, Troubles, type Clock, type Health, type HistoryHealth } from "../../ui/trouble";
import { t } from "./words";

export interface Cluster {
    store: Health & { halted: boolean };
    history: HistoryHealth;
    clock?: Clock;
    skew_ms: number;
    jobs: number;
}

interface Node {
    node: string;
    state: string;
    detail: string | null;
    drained: boolean;
    self: boolean;
    heard_at: string | null;
}

interface Channel {
    name: string;
    delivery?: { waiting: number; last_sent_at: string | null; last_failed_at: string | null; failing_since?: string | null; last_error: string | null };
}

interface Starts {
    starts?: { ok: boolean; reason: string | null; detail: string | null } | null;
}

// Reasons that have a message of their own.
const toldElsewhere = ["store_away", "restored", "clock_doubted", "drained", "stopping"];
const quietStates = ["ready", "draining", "drained", "api", "stopping"];

function Starting({ version }: { version: string }) {
    const agent = useResource(`starts ${version}`, (signal) => api.get<Starts>("/agent", {}, signal));
    const starts = agent.data?.starts;
    if (!starts || starts.ok || toldElsewhere.includes(starts.reason ?? "")) return null;
    return <Alarm>{t("starts", { text: starts.detail ?? starts.reason ?? "" })}</Alarm>;
}

function Nodes({ version }: { version: string }) {
    const nodes = useResource(`nodes ${version}`, (signal) => api.optional<Page<Node>>("/nodes", {}, signal));
    const bad = nodes.data?.items.filter((node) => !node.drained && !(node.self && node.state !== "shut_out") && !quietStates.includes(node.state));
    return (
        <>
            {bad?.map((node) => (
                <Alarm key={node.node}>
                    <a href="#/nodes">{node.node}</a>{" "}
                    {node.state === "gone" && node.heard_at ? t("node.gone", { at: momentText(node.heard_at) }) : node.detail}
                </Alarm>
            ))}
        </>
    );
}

// Only admins see what became of messages.
function Channels({ version }: { version: string }) {
    const channels = useResource(`channels ${version}`, (signal) => api.optional<Page<Channel>>("/channels", {}, signal));
    const bad = channels.data?.items.filter(({ delivery }) => delivery?.last_failed_at && delivery.last_failed_at > (delivery.last_sent_at ?? ""));
    return (
        <>
            {bad?.map(({ name, delivery }) => (
                <Alarm key={name} since={delivery?.failing_since ?? delivery?.last_failed_at} next={t("channel.next")}>
                    <a href={href("/alerts", { channel: name })}>{t("channel", { name })}</a>{" "}
                    {t("channel.bad", { text: delivery?.last_error ?? "", n: delivery?.waiting ?? 0 })}
                </Alarm>
            ))}
        </>
    );
}

export function Problems({ cluster, version }: { cluster: Cluster; version: string }) {
    const { store, history } = cluster;
    return (
        <>
            {store.halted && (
                <Alarm>
                    {t("halted")} <a href="#/nodes">{t("halted.look")}</a>
                </Alarm>
            )}
            <Troubles store={store} history={history} />
            <ClockTrouble clock={cluster.clock} skewMs={cluster.skew_ms} />
            <Starting version={version} />
            <Nodes version={version} />
            {may("admin") && <Channels version={version} />}
        </>
    );
}
