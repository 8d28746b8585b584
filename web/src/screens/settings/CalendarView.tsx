// A calendar month by month, or a year at once: its dates and windows, and the ticks that it takes out.
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import { href, hrefs } from "../../app/router";
import { t as common } from "../../i18n/common";
import { language } from "../../i18n/language";
import { Button, Failure, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { boundsOf, clockOf, daysIn, stepOf, type Day, type Preview } from "./days";
import { t } from "./guards_words";
import { MONDAY_FIRST, weekdayName, YearGrid } from "./YearGrid";

const DAY_MS = 86_400_000;

function Cell({ day }: { day: Day | undefined }) {
    if (!day) return <td />;
    return (
        <td class={day.out ? "is-out" : ""}>
            <span class="num">{+day.date.slice(8)}</span>
            {day.out && <span class="month-text">{t("out")}</span>}
            {!day.out && day.parts.length > 0 && (
                <>
                    <span class="day-bar" aria-hidden="true">
                        {day.parts.map((part) => (
                            <i key={part.from} style={{ left: `${part.from / 0.24}%`, width: `${(part.to - part.from) / 0.24}%` }} />
                        ))}
                    </span>
                    {day.parts.slice(0, 2).map((part) => (
                        <span key={part.from} class="month-text num" title={part.window}>
                            {clockOf(part.from)}–{clockOf(part.to)}
                        </span>
                    ))}
                    {day.parts.length > 2 && <span class="month-text">…</span>}
                </>
            )}
            {day.skipped > 0 && (
                <span class="month-ticks num" title={t("skipped", { n: day.skipped })}>
                    −{day.skipped}
                    <span class="hidden-text">{t("skipped", { n: day.skipped })}</span>
                </span>
            )}
        </td>
    );
}

function MonthGrid({ days, label }: { days: Day[]; label: string }) {
    const before = ((days[0]?.weekday ?? 0) + 6) % 7;
    const weeks = Array.from({ length: Math.ceil((before + days.length) / 7) }, (_, week) => week * 7 - before);
    return (
        <table class="month" aria-label={label}>
            <thead>
                <tr>
                    {MONDAY_FIRST.map((weekday) => (
                        <th key={weekday} scope="col">
                            {weekdayName(weekday)}
                        </th>
                    ))}
                </tr>
            </thead>
            <tbody>
                {weeks.map((first) => (
                    <tr key={first}>
                        {MONDAY_FIRST.map((_, i) => (
                            <Cell key={i} day={days[first + i]} />
                        ))}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

function Jobs({ jobs }: { jobs: Preview["jobs"] }) {
    return (
        <ul class="calendar-jobs">
            {jobs.map((job) => (
                <li key={job.job}>
                    <a href={hrefs.job(job.job)}>{job.job}</a>
                    {job.field === "only_on" && <span class="faint">({t("only_on")})</span>}
                    <span>{t("skipped", { n: `${job.more ? "≥ " : ""}${job.skipped}` })}</span>
                </li>
            ))}
        </ul>
    );
}

export function CalendarView({ name, version }: { name: string; version: number }) {
    const [period, setPeriod] = useState(() => new Date().toISOString().slice(0, 7));
    const isMonth = period.length > 4;
    const [first, end] = boundsOf(period);
    const slack = isMonth ? DAY_MS : 0; // the clock of its zone is ahead of UTC, or behind it
    const preview = useResource(`${name} ${period} ${version}`, (signal) =>
        api.get<Preview>(
            `/calendars/${encodeURIComponent(name)}/preview`,
            { from: new Date(first - slack).toISOString(), to: new Date(end + slack).toISOString() },
            signal,
        ),
    );
    useEffect(() => onLive("job", preview.reload), []);
    const days = daysIn(period, preview.data);
    const label = isMonth ? new Date(first).toLocaleDateString(language.value, { month: "long", year: "numeric", timeZone: "UTC" }) : period;
    const choose = (wanted: boolean): void => setPeriod(wanted ? `${period.slice(0, 4)}-01` : period.slice(0, 4));
    const jobs = preview.data?.jobs.map((job) => ({ ...job, skipped: isMonth ? sumOf(job, period) : job.skipped })) ?? [];
    return (
        <Panel
            title={name}
            class="group-panel"
            beside={
                <a class="button small" href={href("/settings", { tab: "calendars" })}>
                    {common("close")}
                </a>
            }
        >
            <div class="panel-body settings-you">
                <div class="year-head">
                    <Button small title={t("before")} onClick={() => setPeriod(stepOf(period, -1))}>
                        ‹
                    </Button>
                    <strong class="num" role="status">
                        {label}
                    </strong>
                    <Button small title={t("after")} onClick={() => setPeriod(stepOf(period, 1))}>
                        ›
                    </Button>
                    {(["month", "year"] as const).map((kind) => (
                        <Button key={kind} small pressed={(kind === "month") === isMonth} onClick={() => choose(kind === "month")}>
                            {t(kind)}
                        </Button>
                    ))}
                </div>
                {preview.problem && <Failure problem={preview.problem} onRetry={preview.reload} />}
                {isMonth ? <MonthGrid days={days} label={label} /> : <YearGrid days={days} />}
                <Jobs jobs={jobs} />
            </div>
        </Panel>
    );
}

// The preview has a day more on both sides.
function sumOf(job: Preview["jobs"][number], period: string): number {
    return job.days.filter(({ day }) => day.startsWith(period)).reduce((sum, { skipped }) => sum + skipped, 0);
}
