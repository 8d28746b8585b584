// The steps of an instance of a workflow as a graph, and on a time line. Pure.
import type { Step } from "../api/types";
import type { GraphEdge, GraphNode } from "./Graph";
import type { Shown } from "../ui/status";

export function stateOf(step: Step): Shown {
    return step.state ?? "unreached";
}

// "12 of 30 items", counted by the API.
export function itemsOf(step: Step): { ended: number; all: number; failed: number } | null {
    if (!step.items) return null;
    const open = ["queued", "due", "claimed", "begun", "running"];
    const counts = Object.entries(step.items);
    const sum = (wanted: (state: string) => boolean): number => counts.reduce((n, [state, count]) => (wanted(state) ? n + count : n), 0);
    return { ended: sum((state) => !open.includes(state)), all: sum(() => true), failed: sum((state) => !open.includes(state) && state !== "ok" && state !== "skipped") };
}

export function nodesOf(steps: Step[], note: (step: Step) => string, href: (step: Step) => string | undefined): GraphNode[] {
    return steps.map((step) => {
        const link = href(step);
        return {
            id: step.name,
            name: step.name,
            state: stateOf(step),
            note: note(step),
            isFaint: step.state === null || step.state === "waiting",
            ...(link === undefined ? {} : { href: link }),
        };
    });
}

export function edgesOf(steps: Step[], label: (from: string, to: string, on: GraphEdge["on"]) => string): GraphEdge[] {
    return steps.flatMap((step) =>
        step.after.map(({ step: from, on }) => ({ from, to: step.name, on, label: label(from, step.name, on) })),
    );
}

// ---- the time line ----

export interface Bar {
    step: Step;
    from: number; // of the whole span, 0 to 1
    to: number;
    isCritical: boolean; // one that the end of the instance had to wait for
}

function endOf(step: Step, now: number): number {
    return step.finished_at ? Date.parse(step.finished_at) : now;
}

// From the last end back: of the steps that each waited for, the one that ended last. One that did not run
// ended with those before it.
export function criticalPath(steps: Step[], now: number): Set<string> {
    const byName = new Map(steps.map((step) => [step.name, step]));
    const inputs = (step: Step, seen: Set<string>): Step[] =>
        step.after.flatMap(({ step: name }) => {
            const before = byName.get(name);
            if (!before || seen.has(name)) return [];
            seen.add(name);
            return before.started_at ? [before] : inputs(before, seen);
        });
    const last = (some: Step[]): Step | null =>
        some.reduce<Step | null>((best, step) => (!best || endOf(step, now) > endOf(best, now) ? step : best), null);
    const found = new Set<string>();
    const started = steps.filter((step) => step.started_at);
    for (let step = last(started); step && !found.has(step.name); step = last(inputs(step, new Set()))) found.add(step.name);
    return found;
}

export function barsOf(steps: Step[], begin: number, now: number): { bars: Bar[]; span: number } {
    const shown = steps.filter((step) => step.started_at);
    const end = Math.max(begin + 1, ...shown.map((step) => endOf(step, now)));
    const span = end - begin;
    const critical = criticalPath(steps, now);
    const share = (at: number): number => Math.min(1, Math.max(0, (at - begin) / span));
    return {
        span,
        bars: shown
            .map((step) => ({
                step,
                from: share(Date.parse(step.started_at!)),
                to: share(endOf(step, now)),
                isCritical: critical.has(step.name),
            }))
            .sort((a, b) => a.from - b.from),
    };
}
