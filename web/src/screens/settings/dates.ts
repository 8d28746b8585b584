// The dates of a calendar for the view of the year, as src/schedule/calendar.h reads them; the server
// reports errors.
export const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

const DAY_MS = 86_400_000;

export interface Dates {
    dates: string[];
    weekdays: string[];
}

export function linesOf(text: string): string[] {
    return text
        .split(/[\n,]/)
        .map((line) => line.trim())
        .filter(Boolean);
}

// Every day of the year, and whether the calendar has it.
export function daysOf(year: number, { dates, weekdays: names }: Dates): { date: string; weekday: number; out: boolean }[] {
    const spans = dates.map((date) => {
        const [first = "", last = first] = date.split("/");
        return { first, last, wraps: last < first };
    });
    const has = (date: string): boolean =>
        spans.some(({ first, last, wraps }) => {
            const day = first.length === 5 ? date.slice(5) : date;
            return wraps ? day >= first || day <= last : day >= first && day <= last;
        });
    const days = [];
    for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += DAY_MS) {
        const date = new Date(at).toISOString().slice(0, 10);
        const weekday = new Date(at).getUTCDay();
        days.push({ date, weekday, out: has(date) || names.includes(weekdays[weekday] ?? "") });
    }
    return days;
}
