// One action on all jobs that match a filter, done by the server a page at a time.
import { api } from "../../api/client";

export type BulkAction = "run" | "pause" | "resume" | "kill" | "label" | "delete";

// As the list has them.
export interface Filter {
    q: string;
    status: string;
    label: string;
    owner: string;
    node: string;
    folder: string;
}

export interface Wanted {
    what: BulkAction;
    filter: Filter;
    labels?: Record<string, string | null> | undefined;
}

export interface Left {
    reason: string;
    message: string;
    count: number;
}

export interface Acted {
    matched: number;
    touched: number;
    runs: number;
    names: string[];
    left: Left[];
    failed: { name: string; error: string }[];
    next: string | null;
}

const PAGE = 200;

function ask(wanted: Wanted, more: object, key?: string, signal?: AbortSignal): Promise<Acted> {
    const body = { action: wanted.what, labels: wanted.labels, all: true, ...more };
    const headers: Record<string, string> = key ? { "Idempotency-Key": key } : {};
    return api.post<Acted>("/jobs:act", body, { query: { ...wanted.filter }, headers, signal });
}

// A dry run: the jobs that the action would change, and those that it would not.
export function look(wanted: Wanted, signal?: AbortSignal): Promise<Acted> {
    return ask(wanted, { dry_run: true }, undefined, signal);
}

// The progress of an action. After a failure or a stop it continues from here.
export interface Progress {
    key: string; // of the pages, each with its number
    page: number;
    next: string | null;
    isOver: boolean;
    touched: number;
    left: Left[];
    failed: Acted["failed"];
}

export const nothingYet = (): Progress => ({
    key: crypto.getRandomValues(new Uint32Array(4)).join("-"),
    page: 0,
    next: null,
    isOver: false,
    touched: 0,
    left: [],
    failed: [],
});

export function add(sum: Progress, page: Acted): Progress {
    const left = new Map(sum.left.map((item) => [item.reason, item]));
    for (const item of page.left) left.set(item.reason, { ...item, count: item.count + (left.get(item.reason)?.count ?? 0) });
    return {
        key: sum.key,
        page: sum.page + 1,
        next: page.next,
        isOver: page.next === null,
        touched: sum.touched + page.touched,
        left: [...left.values()],
        failed: [...sum.failed, ...page.failed],
    };
}

// Page by page, until it is over or `onPage` says no. A page that got no answer is asked for again
// under its old key, which does nothing twice.
export async function doAll(wanted: Wanted, from: Progress, onPage: (progress: Progress) => boolean): Promise<void> {
    for (let at = from, goesOn = true; goesOn && !at.isOver; ) {
        at = add(at, await ask(wanted, { cursor: at.next ?? undefined, limit: PAGE }, `${at.key}-${at.page}`));
        goesOn = onPage(at);
    }
}
