// Times and spans as text. Pure: the zone and the present are given.

export interface Parts {
    date: string; // 2026-11-15
    time: string; // 08:46:11
    zone: string; // UTC, GMT+8, CET
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
    let format = formats.get(zone);
    if (!format) {
        format = new Intl.DateTimeFormat("en-GB", {
            timeZone: zone,
            year: "numeric",
            month: "2-digit",
            day: "2-digit",
            hour: "2-digit",
            minute: "2-digit",
            second: "2-digit",
            hourCycle: "h23",
            timeZoneName: "short",
        });
        formats.set(zone, format);
    }
    return format;
}

export function partsOf(ms: number, zone: string): Parts {
    const found: Record<string, string> = {};
    for (const part of formatOf(zone).formatToParts(ms)) found[part.type] = part.value;
    return {
        date: `${found["year"]}-${found["month"]}-${found["day"]}`,
        time: `${found["hour"]}:${found["minute"]}:${found["second"]}`,
        zone: found["timeZoneName"] ?? zone,
    };
}

const weekdays = { en: new Intl.DateTimeFormat("en-GB", { weekday: "short", timeZone: "UTC" }), zh: new Intl.DateTimeFormat("zh-CN", { weekday: "short", timeZone: "UTC" }) };

// "Fri", of the day that it is in the zone.
export function weekdayOf(ms: number, zone: string, language: "en" | "zh"): string {
    return weekdays[language].format(Date.parse(`${partsOf(ms, zone).date}T00:00:00Z`));
}

export function zoneName(ms: number, zone: string): string {
    return partsOf(ms, zone).zone;
}

export function fullTime(ms: number, zone: string): string {
    const parts = partsOf(ms, zone);
    const millis = String(((ms % 1000) + 1000) % 1000).padStart(3, "0");
    return `${parts.date} ${parts.time}.${millis} ${parts.zone}`;
}

// The date is left out on the same day.
export function shortTime(ms: number, zone: string, now: number): string {
    const parts = partsOf(ms, zone);
    const today = partsOf(now, zone);
    if (parts.date === today.date) return parts.time;
    const date = parts.date.slice(0, 4) === today.date.slice(0, 4) ? parts.date.slice(5) : parts.date;
    return `${date} ${parts.time.slice(0, 5)}`;
}

export interface Units {
    ms: string;
    s: string;
    m: string;
    h: string;
    d: string;
    gap: string; // between a number and its unit
}

export const unitsOf: Record<"en" | "zh", Units> = {
    en: { ms: "ms", s: "s", m: "m", h: "h", d: "d", gap: " " },
    zh: { ms: "毫秒", s: "秒", m: "分", h: "小时", d: "天", gap: " " },
};

function two(n: number): string {
    return String(n).padStart(2, "0");
}

// "350 ms", "4.2 s", "3 m 05 s", "2 h 07 m", "3 d 4 h"
export function formatSpan(ms: number, u: Units): string {
    const value = Math.max(0, ms);
    const s = Math.floor(value / 1000);
    if (value < 1000) return `${Math.round(value)}${u.gap}${u.ms}`;
    if (value < 10_000) return `${(Math.floor(value / 100) / 10).toFixed(1)}${u.gap}${u.s}`;
    if (s < 60) return `${s}${u.gap}${u.s}`;
    if (s < 3600) return `${Math.floor(s / 60)}${u.gap}${u.m} ${two(s % 60)}${u.gap}${u.s}`;
    if (s < 86_400) return `${Math.floor(s / 3600)}${u.gap}${u.h} ${two(Math.floor((s % 3600) / 60))}${u.gap}${u.m}`;
    return `${Math.floor(s / 86_400)}${u.gap}${u.d} ${Math.floor((s % 86_400) / 3600)}${u.gap}${u.h}`;
}

// Coarser, for countdowns and "ago".
export function formatRough(ms: number, u: Units): string {
    const s = Math.max(0, Math.floor(ms / 1000));
    if (s < 60) return `${s}${u.gap}${u.s}`;
    if (s < 600) return formatSpan(s * 1000, u);
    if (s < 3600) return `${Math.floor(s / 60)}${u.gap}${u.m}`;
    if (s < 86_400) return formatSpan(s * 1000, u);
    return `${Math.floor(s / 86_400)}${u.gap}${u.d}`;
}

export function bytesText(bytes: number): string {
    if (bytes < 1024) return `${bytes} B`;
    const units = ["KiB", "MiB", "GiB", "TiB"];
    let value = bytes / 1024;
    let unit = 0;
    while (value >= 1024 && unit < units.length - 1) {
        value /= 1024;
        unit++;
    }
    return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
