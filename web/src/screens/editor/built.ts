// What the schedule builder can say, to and from a cron expression. Pure.

export const kinds = ["minutes", "hours", "day", "weekdays", "week", "month", "manual"] as const;
export type Kind = (typeof kinds)[number];

export const minuteSteps = [1, 2, 5, 10, 15, 20, 30] as const;
export const hourSteps = [1, 2, 3, 4, 6, 8, 12] as const;
export const weekdays = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"] as const;

export interface Built {
    kind: Kind;
    step: number; // of minutes or hours
    minute: number;
    hour: number;
    days: readonly string[]; // of a week, in the order of `weekdays`
    date: string; // of a month: "1" to "31", or "L" for the last
}

export const usual: Built = { kind: "weekdays", step: 1, minute: 0, hour: 9, days: ["MON"], date: "1" };

export function writeSpec({ kind, step, minute, hour, days, date }: Built): string {
    const at = `${minute} ${hour}`;
    switch (kind) {
        case "minutes":
            return step === 1 ? "* * * * *" : `*/${step} * * * *`;
        case "hours":
            return step === 1 ? `${minute} * * * *` : `${minute} */${step} * * *`;
        case "day":
            return `${at} * * *`;
        case "weekdays":
            return `${at} * * MON-FRI`;
        case "week":
            return `${at} * * ${days.join(",") || "MON"}`;
        case "month":
            return `${at} ${date} * *`;
        case "manual":
            return "@manual";
    }
}

const numbers = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];

// "MON,3,fri" in the order of the week; null: not only single days.
function daysOf(text: string): string[] | null {
    const names = text.split(",").map((part) => numbers[Number(part)] ?? part.toUpperCase());
    return names.every((name) => (weekdays as readonly string[]).includes(name)) ? weekdays.filter((name) => names.includes(name)) : null;
}

function numberIn(text: string, most: number): number | null {
    return /^\d{1,2}$/.test(text) && Number(text) <= most ? Number(text) : null;
}

function stepIn(text: string, steps: readonly number[]): number | null {
    const step = text === "*" ? 1 : /^\*\/(\d+)$/.test(text) ? Number(text.slice(2)) : 0;
    return steps.includes(step) ? step : null;
}

const nicknames: Record<string, string> = { "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * SUN", "@monthly": "0 0 1 * *" };

// null: it is more than the builder can say.
export function readSpec(spec: string): Built | null {
    const text = nicknames[spec.trim()] ?? spec.trim();
    if (text === "@manual") return { ...usual, kind: "manual" };
    const [m = "", h = "", date = "", month = "", week = "", ...more] = text.split(/\s+/);
    if (!week || more.length || month !== "*") return null;
    const everyDay = date === "*" && week === "*";
    const step = stepIn(m, minuteSteps);
    if (step !== null) return everyDay && h === "*" ? { ...usual, kind: "minutes", step } : null;
    const minute = numberIn(m, 59);
    if (minute === null) return null;
    const hours = stepIn(h, hourSteps);
    if (hours !== null) return everyDay ? { ...usual, kind: "hours", step: hours, minute } : null;
    const hour = numberIn(h, 23);
    if (hour === null) return null;
    const at = { ...usual, minute, hour };
    if (everyDay) return { ...at, kind: "day" };
    if (week === "*") return date === "L" || (numberIn(date, 31) ?? 0) > 0 ? { ...at, kind: "month", date: date === "L" ? date : String(Number(date)) } : null;
    if (date !== "*") return null;
    if (/^(MON-FRI|1-5)$/i.test(week)) return { ...at, kind: "weekdays" };
    const days = daysOf(week);
    return days && { ...at, kind: "week", days };
}
