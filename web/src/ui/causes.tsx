// Why jobs fail: the exit code or reason, the last line of the output, and for how long it has been so.
import { api } from "../api/client";
import type { Cause, Job, Page, Run } from "../api/types";
import { t } from "../i18n/common";
import { momentText } from "./moments";
import { useResource } from "./resource";
import { spanText } from "./spans";
import { jobState, reasonText, stateWord, toneOf } from "./status";

const NAMES = 50; // that one call takes
const KEPT = 500;

// A run that has ended does not change: what is known of it is not asked for again.
const known = new Map<string, Cause>();

function keyOf(job: Job): string {
    return `${job.name} ${job.status.last?.run_id} ${job.status.last?.state}`;
}

export function isFailing(job: Job): boolean {
    const state = job.status.last?.state;
    return state !== undefined && toneOf(state) === "bad" && jobState(job) !== "broken";
}

// By the names of the jobs; an older agent tells none.
export function useCauses(jobs: readonly Job[]): ReadonlyMap<string, Cause> {
    const failing = jobs.filter(isFailing);
    const key = failing.map(keyOf).join();
    const causes = useResource(`causes ${key}`, async (signal) => {
        const unknown = failing.filter((job) => !known.has(keyOf(job)));
        if (known.size > KEPT) known.clear();
        for (let i = 0; i < unknown.length; i += NAMES) {
            const some = unknown.slice(i, i + NAMES);
            const page = await api.optional<Page<Cause>>("/jobs:causes", { names: some.map((job) => job.name).join() }, signal);
            for (const cause of page?.items ?? []) {
                const job = some.find((item) => item.name === cause.name);
                if (job) known.set(keyOf(job), cause);
            }
        }
        return new Map(failing.flatMap((job) => {
            const cause = known.get(keyOf(job));
            return cause ? [[job.name, cause] as const] : [];
        }));
    });
    return causes.data ?? new Map();
}

type Ended = Pick<Run, "state" | "reason" | "detail" | "exit_code" | "signal" | "started_at" | "finished_at" | "by">;

// "exit code 2", "signal 9", "timed out after 30 s", else the reason and its detail.
export function endText(run: Ended): string {
    if (run.reason === "exit_code" && run.exit_code !== null) return t("end.exit", { code: run.exit_code });
    if (run.reason === "signal" && run.signal !== null) return t("end.signal", { signal: run.signal });
    if (run.state === "timed_out" && run.started_at && run.finished_at)
        return t("end.timeout", { span: spanText(Date.parse(run.finished_at) - Date.parse(run.started_at)) });
    if (run.state === "killed" && run.reason === "user" && run.by) return t("end.killed", { name: run.by });
    // "integration: failed"
    const state = run.reason === "step_failed" && run.detail?.replace(/: (\w+)$/, (_, word: string) => t("colon") + stateWord(word as Run["state"]));
    return [reasonText(run.reason), state || run.detail].filter(Boolean).join(t("colon"));
}

export function streakText(cause: Cause): string {
    if (cause.failures < 2 || !cause.since) return "";
    return t(cause.more ? "streak.more" : "streak", { n: cause.failures, at: momentText(cause.since) });
}

// The line that the run printed last, in one line on the screen.
export function CauseLine({ cause }: { cause: Cause }) {
    return cause.line ? (
        <code class="cause-line" title={cause.line}>
            {cause.line}
        </code>
    ) : null;
}
