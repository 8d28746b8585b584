// What a calendar does on each day of a month or a year, from its preview (docs/API.md). Pure.
const DAY_MS = 86_400_000;

export interface Preview {
    days: string[];
    windows: { from: string; to: string; window: string }[];
    jobs: { job: string; field: "calendars" | "only_on"; skipped: number; more: boolean; days: { day: string; skipped: number }[] }[];
}

// A part of a day: hours from 0 to 24.
export interface Part {
    from: number;
    to: number;
    window: string;
}

export interface Day {
    date: string;
    weekday: number; // 0: Sunday
    out: boolean;
    parts: Part[];
    skipped: number;
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

// "2026-12" or "2026": its first day, and the first behind it.
export function boundsOf(period: string): [number, number] {
    const [year = 0, month] = period.split("-").map(Number);
    return month ? [Date.UTC(year, month - 1), Date.UTC(year, month)] : [Date.UTC(year, 0), Date.UTC(year + 1, 0)];
}

// The period before it, or after it.
export function stepOf(period: string, by: number): string {
    const [year = 0, month] = period.split("-").map(Number);
    return month ? dateOf(Date.UTC(year, month - 1 + by)).slice(0, 7) : String(year + by);
}

const hourOf = (time: string): number => +time.slice(11, 13) + +time.slice(14, 16) / 60;

function partsOn(date: string, windows: Preview["windows"]): Part[] {
    return windows
        .filter(({ from, to }) => from.slice(0, 10) <= date && to.slice(0, 16) > `${date}T00:00`)
        .map(({ from, to, window }) => ({
            from: from.slice(0, 10) < date ? 0 : hourOf(from),
            to: to.slice(0, 10) > date ? 24 : hourOf(to),
            window,
        }));
}

export function daysIn(period: string, preview: Preview | null): Day[] {
    const [first, end] = boundsOf(period);
    const out = new Set(preview?.days);
    const skipped = new Map<string, number>();
    for (const job of preview?.jobs ?? []) for (const { day, skipped: n } of job.days) skipped.set(day, (skipped.get(day) ?? 0) + n);
    const days = [];
    for (let at = first; at < end; at += DAY_MS) {
        const date = dateOf(at);
        days.push({
            date,
            weekday: new Date(at).getUTCDay(),
            out: out.has(date),
            parts: partsOn(date, preview?.windows ?? []),
            skipped: skipped.get(date) ?? 0,
        });
    }
    return days;
}

export function clockOf(hours: number): string {
    const two = (n: number): string => String(n).padStart(2, "0");
    return `${two(Math.floor(hours))}:${two(Math.round((hours % 1) * 60))}`;
}
