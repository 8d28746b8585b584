// Positions on the time axis. Pure.
import { isEntry, isOpen, type Absence, type Entry, type Run } from "../../api/types";

export interface Tick {
    at: string;
    job: string;
}

export interface TimelineData {
    from: string;
    to: string;
    now: string;
    runs: (Run | Entry)[];
    ticks: Tick[];
    dense?: { job: string; from: string; seconds: number[] }[]; // ticks that are left out
    more: boolean;
    incomplete?: Absence[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const spans = [
    { name: "hour", ms: HOUR, step: 10 * MINUTE },
    { name: "quarter", ms: 6 * HOUR, step: HOUR },
    { name: "day", ms: DAY, step: 4 * HOUR },
    { name: "week", ms: 7 * DAY, step: DAY },
    { name: "month", ms: 30 * DAY, step: 5 * DAY },
] as const;

export type Span = (typeof spans)[number];

export function spanOf(name: string | null): Span {
    return spans.find((span) => span.name === name) ?? spans[0];
}

export type Kind = "ok" | "bad" | "open" | "missed" | "tick";

export interface Mark {
    kind: Kind;
    from: number; // ms
    to: number;
    run: Run | null;
    entry: Entry | null;
}

export interface Row {
    job: string;
    marks: Mark[];
}

function markOf(row: Run | Entry, now: number): Mark | null {
    if (isEntry(row)) return { kind: "missed", from: Date.parse(row.from), to: Date.parse(row.to), run: null, entry: row };
    const start = row.started_at ?? row.tick;
    if (!start) return null;
    const from = Date.parse(start);
    if (row.state === "missed" || row.state === "skipped") return { kind: "missed", from, to: from, run: row, entry: null };
    const kind = isOpen(row.state) ? "open" : row.state === "ok" ? "ok" : "bad";
    const to = row.finished_at ? Date.parse(row.finished_at) : kind === "open" ? Math.max(from, now) : from;
    return { kind, from, to, run: row, entry: null };
}

// A row for each job, by name; marks in the order of time.
export function rowsOf(data: TimelineData): Row[] {
    const rows = new Map<string, Mark[]>();
    const add = (job: string, mark: Mark | null): void => {
        const marks = rows.get(job) ?? [];
        if (mark) marks.push(mark);
        rows.set(job, marks);
    };
    for (const run of data.runs) add(run.job, markOf(run, Date.parse(data.now)));
    for (const tick of data.ticks) {
        const at = Date.parse(tick.at);
        add(tick.job, { kind: "tick", from: at, to: at, run: null, entry: null });
    }
    return [...rows]
        .map(([job, marks]) => ({ job, marks: marks.sort((a, b) => a.from - b.from) }))
        .sort((a, b) => (a.job < b.job ? -1 : 1));
}

export function countOf(rows: Row[], kinds: readonly Kind[]): number {
    return rows.reduce(
        (sum, row) => sum + row.marks.reduce((n, mark) => n + (kinds.includes(mark.kind) ? (mark.entry?.count ?? 1) : 0), 0),
        0,
    );
}
