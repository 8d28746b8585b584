// The state of a run or a job: a word and an icon, and a colour only on top.
import type { Job, JobWarning, RunState } from "../api/types";
import { t } from "../i18n/common";
import { Icon, type IconName } from "./icons";
import { momentText } from "./moments";

export type Shown = RunState | "retrying" | "paused" | "broken" | "warning" | "never" | "waiting" | "unreached";
export type Tone = "good" | "bad" | "busy" | "warn" | "calm";

const looks: Record<Shown, { icon: IconName; tone: Tone }> = {
    queued: { icon: "dots", tone: "calm" },
    retrying: { icon: "clock", tone: "warn" },
    due: { icon: "clock", tone: "calm" },
    claimed: { icon: "clock", tone: "busy" },
    begun: { icon: "running", tone: "busy" },
    running: { icon: "running", tone: "busy" },
    ok: { icon: "check", tone: "good" },
    failed: { icon: "cross", tone: "bad" },
    timed_out: { icon: "hourglass", tone: "bad" },
    killed: { icon: "stop", tone: "warn" },
    lost: { icon: "question", tone: "bad" },
    skipped: { icon: "skip", tone: "calm" },
    missed: { icon: "missed", tone: "warn" },
    paused: { icon: "pause", tone: "warn" },
    broken: { icon: "warning", tone: "bad" },
    warning: { icon: "warning", tone: "warn" },
    never: { icon: "circle", tone: "calm" },
    waiting: { icon: "dots", tone: "calm" },
    unreached: { icon: "circle", tone: "calm" },
};

export function toneOf(state: Shown): Tone {
    return looks[state]?.tone ?? "calm";
}

export function stateWord(state: Shown): string {
    return t(`state.${state}`);
}

export function Status({ state, big }: { state: Shown; big?: boolean }) {
    const look = looks[state] ?? looks.never;
    return (
        <span class={`status tone-${look.tone} ${big ? "status-big" : ""}`}>
            <Icon name={look.icon} class={state === "running" ? "turning" : ""} />
            <span>{stateWord(state)}</span>
        </span>
    );
}

// The status of a job in one word; what needs attention takes precedence.
export function jobState(job: Pick<Job, "status">): Shown {
    const status = job.status;
    if (status.problem) return "broken";
    if (status.running > 0) return "running";
    if (status.paused) return "paused";
    if (status.warning) return "warning";
    if (status.retrying > 0) return "retrying";
    if (status.queued > 0) return "queued";
    return status.last ? status.last.state : "never";
}

// The status of a job in a list or a head: that it is paused, or has a warning, is told beside what
// still runs.
export function JobStatus({ job, big }: { job: Pick<Job, "status">; big?: boolean }) {
    const state = jobState(job);
    const more = (["paused", "warning"] as const).filter((also) => job.status[also] && state !== also);
    return (
        <>
            {[state, ...more].map((shown, i) => (
                <>
                    {i > 0 && " "}
                    <Status key={shown} state={shown} {...(big ? { big } : {})} />
                </>
            ))}
        </>
    );
}

// "no node has the labels of its where: gpu (since 03:11 CET)"
export function warningText(warning: JobWarning): string {
    return warning.since ? t("warning.since", { text: warning.detail, at: momentText(warning.since) }) : warning.detail;
}

export function reasonText(reason: string | null): string | null {
    if (!reason) return null;
    const key = `reason.${reason}`;
    return t.has(key) ? t(key) : reason;
}
