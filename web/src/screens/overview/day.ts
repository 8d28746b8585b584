// The last 24 hours in numbers. Pure.
import { isEntry, type Entry, type Run, type Stat } from "../../api/types";

export const HOUR_MS = 3_600_000;

export interface Hour {
    at: number; // ms
    ok: number;
    bad: number;
    missed: number;
    lateMs: number | null; // mean; null: none started
}

function count(stat: Stat, names: readonly string[]): number {
    return names.reduce((sum, name) => sum + Number(stat[name] ?? 0), 0);
}

// Hour by hour, the current one last; hours without anything are there, too.
export function hoursOf(stats: Stat[], now: number, hours = 24): Hour[] {
    const last = Math.floor(now / HOUR_MS) * HOUR_MS;
    const byTime = new Map(stats.map((stat) => [Date.parse(stat.from), stat]));
    return Array.from({ length: hours }, (_, i) => {
        const at = last - (hours - 1 - i) * HOUR_MS;
        const stat = byTime.get(at);
        if (!stat) return { at, ok: 0, bad: 0, missed: 0, lateMs: null };
        const late = stat["mean_late_ms"];
        return {
            at,
            ok: stat.ok,
            bad: count(stat, ["failed", "timed_out", "killed", "lost"]),
            missed: count(stat, ["skipped", "missed"]),
            lateMs: typeof late === "number" ? late : null,
        };
    });
}

export interface Sum {
    ok: number;
    bad: number;
    missed: number;
    percent: number | null; // of those that ran; never 100 when one was not ok
}

export function sumOf(hours: Hour[]): Sum {
    const sum = { ok: 0, bad: 0, missed: 0 };
    for (const hour of hours) {
        sum.ok += hour.ok;
        sum.bad += hour.bad;
        sum.missed += hour.missed;
    }
    const ran = sum.ok + sum.bad;
    return { ...sum, percent: ran ? Math.floor((sum.ok * 1000) / ran) / 10 : null };
}

const WAITED_MS = 5000; // claimed so much after its tick: it waited in a queue, or for a limit

export interface Lateness {
    n: number;
    p50: number;
    p99: number;
}

// Start delays of scheduled runs, without those that waited on purpose; null: there are none.
export function latenessOf(rows: (Run | Entry)[]): Lateness | null {
    const delays = rows.flatMap((row) => {
        if (isEntry(row) || row.cause !== "tick" || row.attempt > 1 || row.part || !row.tick || !row.started_at) return [];
        const tick = Date.parse(row.tick);
        if (row.claimed_at && Date.parse(row.claimed_at) - tick > WAITED_MS) return [];
        return [Math.max(0, Date.parse(row.started_at) - tick)];
    });
    const sorted = delays.sort((a, b) => a - b);
    const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
    return sorted.length ? { n: sorted.length, p50: at(0.5), p99: at(0.99) } : null;
}
