// Actions on one job or many.
import { api, jobPath, Problem, runPath } from "../../api/client";
import { definitionOf } from "../../api/definition";
import type { Job, Page, Run } from "../../api/types";
import { attempt, toastDone, toastProblem } from "../../app/toasts";
import { t } from "./words";

const AT_ONCE = 6;

// Runs the action for each job, a few at a time; a failure does not stop the others.
export async function forEach<T>(items: T[], action: (item: T) => Promise<unknown>): Promise<{ done: T[]; errors: unknown[] }> {
    const rest = [...items];
    const done: T[] = [];
    const errors: unknown[] = [];
    const work = async (): Promise<void> => {
        for (let item = rest.shift(); item !== undefined; item = rest.shift()) {
            try {
                await action(item);
                done.push(item);
            } catch (error) {
                errors.push(error);
            }
        }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
    return { done, errors };
}

function tell(result: { done: unknown[]; errors: unknown[] }, text: string, undo?: () => void): void {
    if (result.done.length) toastDone(text, undo);
    const [first] = result.errors;
    if (!first) return;
    const n = result.done.length + result.errors.length;
    const problem = first instanceof Problem ? first : new Problem(0, String(first));
    toastProblem(
        n === 1
            ? problem
            : new Problem(problem.status, t("some.failed", { failed: result.errors.length, n, text: problem.detail }), problem.requestId),
    );
}

export type SimpleAction = "run" | "pause" | "resume";

const opposites = { pause: "resume", resume: "pause" } as const;

// `changed` is called when it was undone.
export async function act(action: SimpleAction, names: string[], changed?: () => void): Promise<void> {
    const result = await forEach(names, (name) => api.post(jobPath(name, `/${action}`)));
    const undo = action === "run" ? undefined : () => void act(opposites[action], result.done, changed).then(changed);
    tell(result, action === "run" && names[0] && names.length === 1 ? t("started", { name: names[0] }) : t(`did.${action}`, { n: result.done.length }), undo);
}

export async function bringBack(names: string[]): Promise<void> {
    const result = await forEach(names, (name) => api.post(jobPath(name, "/undelete")));
    tell(result, t("restored", { n: result.done.length }));
}

export async function remove(names: string[], changed: () => void): Promise<void> {
    const result = await forEach(names, (name) => api.delete(jobPath(name)));
    tell(result, t("deleted.done", { n: result.done.length }), () => void bringBack(result.done).then(changed));
}

export async function setLabel(jobs: Job[], label: string, value: string, changed: () => void): Promise<void> {
    const set = (job: Job, to: string | number | null): Promise<unknown> => api.patch(jobPath(job.name), { labels: { [label]: to } });
    const result = await forEach(jobs, (job) => set(job, value || null));
    const undo = (): void => void forEach(result.done, (job) => set(job, job.labels?.[label] ?? null)).then(changed);
    tell(result, t("did.label", { n: result.done.length }), undo);
}

export async function openRuns(names: string[]): Promise<Run[]> {
    const found: Run[] = [];
    await forEach(names, async (job) => {
        const page = await api.get<Page<Run>>("/runs", { job, state: "queued,due,claimed,begun,running", limit: 100 });
        found.push(...page.items);
    });
    return found;
}

export async function kill(runs: Run[]): Promise<void> {
    const result = await forEach(runs, (run) => api.post(runPath(run.run_id, "/kill")));
    tell(result, t("did.kill", { n: result.done.length }));
}

// true: the job was created.
export async function clone(source: string, name: string, paused: boolean): Promise<boolean> {
    const made = await attempt(async () => {
        const job = await api.get<Job>(jobPath(source));
        const definition = { ...definitionOf(job), name, ...(paused ? { paused: true } : {}) };
        await api.put(jobPath(name), definition, { headers: { "If-None-Match": "*" } });
        toastDone(t("clone.done", { name }));
        return true;
    });
    return made ?? false;
}

// true: the job has the new name.
export async function rename(source: string, name: string): Promise<boolean> {
    const done = await attempt(async () => {
        const { left } = await api.post<{ left: string[] }>(jobPath(source, "/rename"), { name });
        toastDone(left.length ? t("rename.left", { name, jobs: left.join(", ") }) : t("rename.done", { name }));
        return true;
    });
    return done ?? false;
}
