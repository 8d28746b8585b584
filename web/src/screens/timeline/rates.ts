// Rows with many marks as bars of how many there were in a part of the span; rows of a folder or a
// label together. Pure.
import type { Stat } from "../../api/types";
import type { Mark, Row, TimelineData } from "./axis";

export const BINS = 96;
const DENSE = 150; // marks in a row are no longer told apart

export interface Bar {
    from: number;
    to: number;
    ok: number;
    bad: number;
    missed: number;
    ticks: number;
}

export interface Lane {
    name: string;
    jobs: string[];
    marks: Mark[];
    bars: Bar[] | null; // in place of marks
}

export interface Counted {
    job: string;
    stats: Stat[];
    spanMs: number;
}

export const total = (bar: Bar): number => bar.ok + bar.bad + bar.missed + bar.ticks;

function emptyBars(from: number, to: number): Bar[] {
    const step = (to - from) / BINS;
    return Array.from({ length: BINS }, (_, i) => ({ from: from + i * step, to: from + (i + 1) * step, ok: 0, bad: 0, missed: 0, ticks: 0 }));
}

// Spreads `n` over what of [from, to) is in the span, as whole as it comes.
function spread(bars: Bar[], from: number, to: number, n: number, kind: "ok" | "bad" | "missed" | "ticks"): void {
    const first = bars[0]?.from ?? 0;
    const step = (bars[0]?.to ?? 1) - first;
    const at = (ms: number): number => Math.min(BINS - 1, Math.max(0, Math.floor((ms - first) / step)));
    const [a, b] = [at(from), at(Math.max(from, to - 1))];
    for (let i = a; i <= b; i++) bars[i]![kind] += n / (b - a + 1);
}

const number = (stat: Stat, name: string): number => Number(stat[name] ?? 0);

function timesOf({ from, seconds }: { from: string; seconds: number[] }): number[] {
    const first = Date.parse(from);
    return seconds.map((s) => first + s * 1000);
}

// `cutAt`: what was before is in `counted` alone.
function barsOf(marks: Mark[], data: TimelineData, jobs: ReadonlySet<string>, counted: Counted[]): Bar[] {
    const bars = emptyBars(Date.parse(data.from), Date.parse(data.to));
    for (const mark of marks) {
        const kind = mark.kind === "tick" ? "ticks" : mark.kind === "open" ? "ok" : mark.kind;
        spread(bars, mark.from, mark.kind === "missed" ? mark.to : mark.from, mark.entry?.count ?? 1, kind);
    }
    for (const item of data.dense ?? []) if (jobs.has(item.job)) for (const at of timesOf(item)) spread(bars, at, at, 1, "ticks");
    for (const { job, stats, spanMs } of counted) {
        if (!jobs.has(job)) continue;
        for (const stat of stats) {
            const from = Date.parse(stat.from);
            const add = (names: string[], kind: "ok" | "bad" | "missed"): void =>
                spread(bars, from, from + spanMs, names.reduce((sum, name) => sum + number(stat, name), 0), kind);
            add(["ok"], "ok");
            add(["failed", "timed_out", "killed", "lost"], "bad");
            add(["skipped", "missed"], "missed");
        }
    }
    return bars;
}

export type GroupOf = (job: string) => string;

// Lanes by name. One has bars if its marks are many, or if not all of them are there.
export function lanesOf(rows: Row[], data: TimelineData, counted: Counted[], groupOf: GroupOf | null): Lane[] {
    const lanes = new Map<string, Lane>();
    const laneOf = (job: string): Lane => {
        const name = groupOf ? groupOf(job) : job;
        const lane = lanes.get(name) ?? { name, jobs: [], marks: [], bars: null };
        lanes.set(name, lane);
        if (!lane.jobs.includes(job)) lane.jobs.push(job);
        return lane;
    };
    for (const row of rows) laneOf(row.job).marks.push(...row.marks);
    for (const item of counted) if (item.stats.length) laneOf(item.job);
    const partial = new Set([...(data.dense ?? []).map((item) => item.job), ...counted.filter((item) => item.stats.length).map((item) => item.job)]);
    for (const lane of lanes.values()) {
        lane.marks.sort((a, b) => a.from - b.from);
        if (lane.marks.length > DENSE || lane.jobs.some((job) => partial.has(job))) lane.bars = barsOf(lane.marks, data, new Set(lane.jobs), counted);
    }
    return [...lanes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

// The newest runs are there; null: all of them are.
export function cutOf(data: TimelineData, limit: number): number | null {
    if (data.runs.length < limit) return null;
    return Math.min(...data.runs.map((run) => Date.parse(("tick" in run ? run.tick : null) ?? ("from" in run ? run.from : run.started_at) ?? data.now)));
}

// What the server looks at: coming ticks of a job, and of all; and jobs whose ticks it counts.
const COUNTED_MAX = 1000;
const COUNTED_ALL = 20_000;
const DENSE_MAX = 5000;

// Whether all coming ticks of all jobs were counted.
export function isCounted({ ticks, dense = [] }: TimelineData): boolean {
    const shown = new Map<string, number>();
    for (const { job } of ticks) shown.set(job, (shown.get(job) ?? 0) + 1);
    const all = dense.reduce((sum, item) => sum + item.seconds.length, ticks.length);
    return all < COUNTED_ALL && dense.length < DENSE_MAX && dense.every((item) => item.seconds.length + (shown.get(item.job) ?? 0) < COUNTED_MAX);
}

// ---- a week as a calendar ----

export interface Day {
    date: string;
    often: { job: string; n: number }[];
    single: { at: number; job: string }[];
}

const OFTEN = 4; // ticks of a day: its times are not told one by one

// `dateOf` tells the day of a moment in the zone that is shown.
export function daysOf(data: TimelineData, dates: string[], dateOf: (ms: number) => string): Day[] {
    const days = new Map(dates.map((date) => [date, new Map<string, number[]>()]));
    const add = (job: string, ms: number): void => {
        const day = days.get(dateOf(ms));
        if (!day) return;
        const times = day.get(job);
        if (times) times.push(ms);
        else day.set(job, [ms]);
    };
    for (const tick of data.ticks) add(tick.job, Date.parse(tick.at));
    for (const item of data.dense ?? []) for (const at of timesOf(item)) add(item.job, at);
    return dates.map((date) => {
        const all = [...(days.get(date) ?? [])].map(([job, at]) => ({ job, n: at.length, at }));
        return {
            date,
            often: all.filter((item) => item.n > OFTEN).map(({ job, n }) => ({ job, n })).sort((a, b) => b.n - a.n),
            single: all.filter((item) => item.n <= OFTEN).flatMap(({ job, at }) => at.map((ms) => ({ at: ms, job }))).sort((a, b) => a.at - b.at),
        };
    });
}
