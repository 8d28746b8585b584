// The last 24 hours in numbers. Pure.
import type { Stat } from "../../api/types";

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
    lateMs: number | null;
}

export function sumOf(hours: Hour[]): Sum {
    const sum = { ok: 0, bad: 0, missed: 0 };
    let [lateMs, weight] = [0, 0];
    for (const hour of hours) {
        sum.ok += hour.ok;
        sum.bad += hour.bad;
        sum.missed += hour.missed;
        if (hour.lateMs === null) continue;
        lateMs += hour.lateMs * (hour.ok + hour.bad);
        weight += hour.ok + hour.bad;
    }
    const ran = sum.ok + sum.bad;
    return { ...sum, percent: ran ? Math.floor((sum.ok * 1000) / ran) / 10 : null, lateMs: weight ? lateMs / weight : null };
}
