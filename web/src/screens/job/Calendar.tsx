// The outcomes of the ticks, one square per day.
import { api } from "../../api/client";
import type { Entry, Page, Run, Stat } from "../../api/types";
import { zone } from "../../app/preferences";
import { language } from "../../i18n/language";
import { Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { countRows, countStats, emptyDays, levelOf, type Day, type Level } from "./figures";
import { t } from "./words";

const WEEKS = 26;
const CELL = 13;
const ROWS_MAX = 1000;

interface Counted {
    days: Day[];
    partial: number; // the number of newest records that were counted; 0: all
}

// Counts of the server; with an older server, counts of its list.
async function count(job: string, now: number, signal: AbortSignal): Promise<Counted> {
    const days = emptyDays(WEEKS, now, zone.value);
    const from = `${days[0]?.date}T00:00:00Z`;
    const stats = await api.optional<Page<Stat>>("/stats", { job, from, to: new Date(now).toISOString(), span: "day" }, signal);
    if (stats) return { days: countStats(days, stats.items, zone.value), partial: 0 };
    const page = await api.get<Page<Run | Entry>>("/runs", { job, since: from, ledger: true, limit: ROWS_MAX }, signal);
    return { days: countRows(days, page.items, zone.value), partial: page.next ? ROWS_MAX : 0 };
}

// Days that were not all ok also have a mark in them.
function Cell({ day, index }: { day: Day; index: number }) {
    const level = levelOf(day);
    const x = Math.floor(index / 7) * CELL;
    const y = (index % 7) * CELL;
    return (
        <g class={`day day-${level}`}>
            <title>{t("calendar.day", { date: day.date, ok: day.ok, bad: day.bad, missed: day.missed })}</title>
            <rect x={x} y={y} width={CELL - 2.5} height={CELL - 2.5} rx="2" />
            {(level === "bad" || level === "some") && <path d={`M${x + 3} ${y + 3}l4.500 4.500m0-4.500l-4.500 4.500`} />}
            {level === "missed" && <path d={`M${x + 2.5} ${y + 5.25}h5.500`} />}
        </g>
    );
}

function Months({ days }: { days: Day[] }) {
    const names = new Intl.DateTimeFormat(language.value === "zh" ? "zh-CN" : "en-GB", { month: "short", timeZone: "UTC" });
    const starts = days.flatMap((day, i) => (day.date.endsWith("-01") ? [{ i, date: day.date }] : []));
    return (
        <>
            {starts.map(({ i, date }) => (
                <text key={date} x={Math.floor(i / 7) * CELL} y={7 * CELL + 11}>
                    {names.format(Date.parse(date))}
                </text>
            ))}
        </>
    );
}

function Legend({ level, text }: { level: Level; text: string }) {
    const sample: Record<Level, Day> = {
        none: { date: "", ok: 0, bad: 0, missed: 0 },
        ok: { date: "", ok: 1, bad: 0, missed: 0 },
        some: { date: "", ok: 2, bad: 1, missed: 0 },
        bad: { date: "", ok: 0, bad: 1, missed: 0 },
        missed: { date: "", ok: 0, bad: 0, missed: 1 },
    };
    return (
        <span class="legend">
            <svg viewBox={`0 0 ${CELL} ${CELL}`} width="12" height="12" aria-hidden="true">
                <Cell day={sample[level]} index={0} />
            </svg>
            {text}
        </span>
    );
}

export function Calendar({ job, version }: { job: string; version: string }) {
    const counted = useResource(`calendar ${job} ${zone.value} ${version}`, (signal) => count(job, Date.now(), signal));
    if (!counted.data) return null;
    const { days, partial } = counted.data;
    const sum = (pick: (day: Day) => number): number => days.reduce((total, day) => total + pick(day), 0);
    const label = t("calendar.text", {
        weeks: WEEKS,
        zone: zone.value,
        ok: sum((day) => day.ok),
        bad: sum((day) => day.bad),
        missed: sum((day) => day.missed),
    });
    return (
        <Panel title={t("calendar")} beside={<span class="zone">{zone.value}</span>}>
            <div class="panel-body calendar">
                <svg viewBox={`0 0 ${WEEKS * CELL} ${7 * CELL + 14}`} role="img" aria-label={label}>
                    {days.map((day, i) => (
                        <Cell key={day.date} day={day} index={i} />
                    ))}
                    <Months days={days} />
                </svg>
                <p class="legends">
                    <Legend level="ok" text={t("calendar.ok")} />
                    <Legend level="some" text={t("calendar.some")} />
                    <Legend level="bad" text={t("calendar.bad")} />
                    <Legend level="missed" text={t("calendar.missed")} />
                    <Legend level="none" text={t("calendar.less")} />
                </p>
                {partial > 0 && <p class="faint small">{t("calendar.partial", { n: partial })}</p>}
            </div>
        </Panel>
    );
}
