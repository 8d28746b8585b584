// Times on the screen. The tooltip has the full time; each shows its zone, or stands in a column
// that names it.
import { localZone, zone } from "../app/preferences";
import { t } from "../i18n/common";
import { language } from "../i18n/language";
import { now } from "./clock";
import { roughSpan, spanText } from "./spans";
import { fullTime, partsOf, shortTime, weekdayOf, zoneName } from "./time";

function msOf(at: string): number {
    return Date.parse(at);
}

// "08:46:11 CET"
export function Moment({ at, bare }: { at: string | null; bare?: boolean }) {
    if (!at) return <span class="faint">–</span>;
    const ms = msOf(at);
    return (
        <time dateTime={at} title={fullTime(ms, zone.value)} class="num">
            {shortTime(ms, zone.value, Date.now())}
            {!bare && <span class="zone"> {zoneName(ms, zone.value)}</span>}
        </time>
    );
}

// The same in a sentence.
export function momentText(at: string): string {
    return `${shortTime(msOf(at), zone.value, Date.now())} ${zoneName(msOf(at), zone.value)}`;
}

const notes = { "moved": "note.moved", "first of two": "note.first", "second of two": "note.second", "left out": "note.skipped" } as const;

// What is special about a tick: the server says it in English.
export function noteText(note: string): string {
    const say = (part: string): string => {
        if (part === "left out: maintenance") return t("note.maintenance");
        if (part === "left out: pause") return t("note.pause");
        const key = notes[part.slice(0, part.indexOf(":")) as keyof typeof notes];
        return key ? t(key, { clock: /[\d:]*\d/.exec(part)?.[0] ?? "" }) : part;
    };
    return note.split("; ").map(say).join("; ");
}

// A time in the job's zone, as the server sends it: "2026-11-16T02:30:00-05:00".
export function LocalTime({ text }: { text: string }) {
    const [, date, time, offset] = /^(.*)T([\d:.]+)(.*)$/.exec(text) ?? ["", text, "", ""];
    return (
        <span class="num">
            {date} {time} <span class="zone">{offset === "Z" ? "UTC" : offset}</span>
        </span>
    );
}

// "Fri 2026-11-20 02:30:00 CET"
export function DayTime({ at }: { at: string }) {
    const ms = msOf(at);
    const parts = partsOf(ms, zone.value);
    return (
        <time dateTime={at} class="num">
            {weekdayOf(ms, zone.value, language.value)} {parts.date} {parts.time} <span class="zone">{parts.zone}</span>
        </time>
    );
}

// "3 m 12 s ago", "in 40 s"
export function Relative({ at, overdue }: { at: string | null; overdue?: boolean }) {
    if (!at) return <span class="faint">–</span>;
    const ms = msOf(at);
    const away = ms - now.value;
    const key = away >= 0 ? "time.in" : overdue ? "time.overdue" : "time.ago";
    const text = Math.abs(away) < 1000 ? t("time.now") : t(key, { span: roughSpan(Math.abs(away)) });
    return (
        <time dateTime={at} title={fullTime(ms, zone.value)} class="num">
            {text}
        </time>
    );
}

// How long something took, or has taken so far.
export function Duration({ from, to }: { from: string | null; to: string | null }) {
    if (!from) return <span class="faint">–</span>;
    const end = to ? msOf(to) : now.value;
    return <span class="num">{spanText(end - msOf(from))}</span>;
}

// What a field for a date and a time says, in the zone that is shown.
export function instantOf(value: string): string {
    if (zone.value === localZone) return new Date(value).toISOString();
    const asUtc = Date.parse(`${value}Z`);
    const parts = partsOf(asUtc, zone.value);
    return new Date(2 * asUtc - Date.parse(`${parts.date}T${parts.time}Z`)).toISOString();
}

// For the head of a column.
export function ZoneNote() {
    return <span class="zone">{zoneName(Date.now(), zone.value)}</span>;
}
