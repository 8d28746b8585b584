// A node: its state, its clock, its drain.
import { useState } from "preact/hooks";
import { api } from "../../api/client";
import { may } from "../../app/session";
import { attempt, toastDone } from "../../app/toasts";
import { t as common } from "../../i18n/common";
import { Icon, type IconName } from "../../ui/icons";
import { Button, Dialog } from "../../ui/parts";
import { spanText } from "../../ui/spans";
import type { Tone } from "../../ui/status";
import { t } from "./words";

const SKEW_WARN_MS = 100;
const LAG_WARN_MS = 1000;

export interface Node {
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
    cpu_pressure: number | null; // percent of time that processes waited
    memory_pressure: number | null;
    cpu_load?: number | null; // percent of the processors
    memory_used?: number | null;
    labels: Record<string, string>;
    version: string | null;
    program?: string | null; // whose process it is, and whose functions alone it runs
    program_version?: number | null;
    address: string | null;
    started_at: string | null;
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

export function NodeState({ node }: { node: Node }) {
    const look = looks[node.state] ?? { icon: "question", tone: "calm" };
    const key = `state.${node.state}`;
    return (
        <span class={`status tone-${look.tone}`} title={node.detail ?? undefined}>
            <Icon name={look.icon} />
            <span>{t.has(key) ? t(key) : node.state}</span>
        </span>
    );
}

export function Skew({ ms }: { ms: number | null }) {
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
export function Lag({ ms }: { ms: number | null }) {
    if (ms === null) return <span class="faint">–</span>;
    const isLate = ms >= LAG_WARN_MS;
    return (
        <span class={`num ${isLate ? "tone-warn" : ""}`} title={t("lag.text")}>
            {isLate && <Icon name="warning" />} {spanText(ms)}
        </span>
    );
}

function DrainDialog({ node, isLast, onDo, onClose }: { node: Node; isLast: boolean; onDo: () => void; onClose: () => void }) {
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

// The button that begins its drain, after a question, or ends it.
export function Drain({ node, nodes, onChange }: { node: Node; nodes: Node[]; onChange: () => void }) {
    const [asked, setAsked] = useState(false);
    if (!may("admin") || node.state === "shut_out") return null;
    const tell = (what: "drain" | "undrain"): void => {
        setAsked(false);
        void attempt(async () => {
            await api.post(`/nodes/${encodeURIComponent(node.node)}/${what}`);
            toastDone(t(`${what}.done`, { name: node.node }), what === "drain" ? () => tell("undrain") : undefined);
            onChange();
        });
    };
    const isLast = !nodes.some((other) => other.node !== node.node && other.state === "ready");
    return (
        <>
            <Button small icon={node.drained ? "play" : "pause"} onClick={() => (node.drained ? tell("undrain") : setAsked(true))}>
                {t(node.drained ? "undrain" : "drain")}
            </Button>
            {asked && <DrainDialog node={node} isLast={isLast} onDo={() => tell("drain")} onClose={() => setAsked(false)} />}
        </>
    );
}
