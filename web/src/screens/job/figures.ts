// Numbers about the runs of a job. Pure.
import { isEntry, isOpen, type Entry, type Run, type Stat } from "../../api/types";
import { partsOf } from "../../ui/time";

export interface Point {
    run: string; // its id
    at: number; // ms
    ms: number; // how long it took
    ok: boolean;
}

export function pointsOf(rows: (Run | Entry)[]): Point[] {
    const points: Point[] = [];
    for (const row of rows) {
        if (isEntry(row) || isOpen(row.state) || !row.started_at || !row.finished_at) continue;
        const at = Date.parse(row.started_at);
        points.push({ run: row.run_id, at, ms: Date.parse(row.finished_at) - at, ok: row.state === "ok" });
    }
    return points.sort((a, b) => a.at - b.at);
}

// The range of the time axis, in seconds; for a single run, an hour around it.
export function axisOf(points: Point[]): [number, number] {
    const from = (points[0]?.at ?? 0) / 1000;
    const to = (points.at(-1)?.at ?? 0) / 1000;
    return from === to ? [from - 1800, to + 1800] : [from, to];
}

// The value below which `part` of them are.
export function quantile(values: number[], part: number): number {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}

// How many of the runs each node had, the most first.
export function byNode(rows: (Run | Entry)[]): { node: string; n: number }[] {
    const counts = new Map<string, number>();
    for (const row of rows) if (!isEntry(row) && row.node && row.started_at) counts.set(row.node, (counts.get(row.node) ?? 0) + 1);
    return [...counts].map(([node, n]) => ({ node, n })).sort((a, b) => b.n - a.n || (a.node < b.node ? -1 : 1));
}

export interface Day {
    date: string; // 2026-11-15
    ok: number;
    bad: number;
    missed: number; // ticks that did not run
}

// The last weeks, day by day, from a Monday on, to today.
export function emptyDays(weeks: number, now: number, zone: string): Day[] {
    const today = partsOf(now, zone).date;
    const end = Date.parse(`${today}T00:00:00Z`);
    const weekday = (new Date(end).getUTCDay() + 6) % 7;
    const first = end - (weekday + (weeks - 1) * 7) * 86_400_000;
    const days: Day[] = [];
    for (let at = first; at <= end; at += 86_400_000)
        days.push({ date: new Date(at).toISOString().slice(0, 10), ok: 0, bad: 0, missed: 0 });
    return days;
}

function indexOf(days: Day[]): Map<string, Day> {
    return new Map(days.map((day) => [day.date, day]));
}

export function countRows(days: Day[], rows: (Run | Entry)[], zone: string): Day[] {
    const byDate = indexOf(days);
    for (const row of rows) {
        const at = isEntry(row) ? row.from : (row.tick ?? row.started_at);
        const day = at ? byDate.get(partsOf(Date.parse(at), zone).date) : undefined;
        if (!day) continue;
        if (isEntry(row)) day.missed += row.count;
        else if (row.state === "skipped" || row.state === "missed") day.missed++;
        else if (row.state === "ok") day.ok++;
        else if (!isOpen(row.state)) day.bad++;
    }
    return days;
}

export function countStats(days: Day[], stats: Stat[], zone: string): Day[] {
    const byDate = indexOf(days);
    const number = (stat: Stat, name: string): number => Number(stat[name] ?? 0);
    for (const stat of stats) {
        const day = byDate.get(partsOf(Date.parse(stat.from), zone).date);
        if (!day) continue;
        day.ok += number(stat, "ok");
        for (const name of ["failed", "timed_out", "killed", "lost"]) day.bad += number(stat, name);
        for (const name of ["skipped", "missed"]) day.missed += number(stat, name);
    }
    return days;
}

export type Level = "none" | "ok" | "some" | "bad" | "missed";

export function levelOf(day: Day): Level {
    if (day.bad > day.ok) return "bad";
    if (day.bad > 0) return "some";
    if (day.ok > 0) return "ok";
    return day.missed > 0 ? "missed" : "none";
}
