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

// "350 ms", "4.2 s", "3 m 05 s", "2 h 07 m", "3 d 4 h"
export function spanText(ms: number): string {
    const value = Math.max(0, ms);
    if (value < 1000) return `${Math.round(value)} ms`;
    if (value < 10_000) return `${(Math.floor(value / 100) / 10).toFixed(1)} s`;
    const s = Math.floor(value / 1000);
    if (s < 60) return `${s} s`;
    if (s < 3600) return `${Math.floor(s / 60)} m ${String(s % 60).padStart(2, "0")} s`;
    if (s < 86_400) return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")} m`;
    return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}

// Coarser, for countdowns and "ago": one unit, two below an hour.
export function roughSpan(ms: number): string {
    const s = Math.max(0, Math.floor(ms / 1000));
    if (s < 60) return `${s} s`;
    if (s < 600) return `${Math.floor(s / 60)} m ${String(s % 60).padStart(2, "0")} s`;
    if (s < 3600) return `${Math.floor(s / 60)} m`;
    if (s < 86_400) return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")} m`;
    return `${Math.floor(s / 86_400)} d`;
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
