// A definition as a job for one test run: what it runs is the same, when and whom it tells is not. If nobody
// deletes it, it goes by itself. Pure.
import { ofTicks, type Draft } from "./draft";

const LABEL = "trial";
const STAYS = "1h";

export const trialName = (name: string): string => `${name}.trial`;

const left = new Set([...ofTicks, "name", "after", "notify", "retries", "catch_up", "overlap", "spread", "rolling", "paused", "labels", "notes", "deadline", "delete_after"]);

export function trialOf(draft: Draft, notes: string): Draft {
    const rest = Object.fromEntries(Object.entries(draft).filter(([name]) => !left.has(name)));
    return { ...rest, schedule: "@manual", labels: { [LABEL]: "true" }, delete_after: STAYS, notes };
}

export function isTrial(job: { labels?: Record<string, unknown> } | null): boolean {
    return String(job?.labels?.[LABEL]) === "true";
}
