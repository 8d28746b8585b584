// The coming seven days as a calendar: seldom jobs with their times, frequent ones with how often they start.
import { api } from "../../api/client";
import { zone } from "../../app/preferences";
import { hrefs } from "../../app/router";
import { language } from "../../i18n/language";
import { Failure, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { partsOf } from "../../ui/time";
import type { TimelineData } from "./axis";
import { daysOf, isCounted, type Day } from "./rates";
import { t } from "./words";

const DAY_MS = 86_400_000;
const SHOWN = 14; // of a day

function headOf(date: string): string {
    return new Intl.DateTimeFormat(language.value, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" }).format(Date.parse(`${date}T12:00:00Z`));
}

function DayColumn({ day, isWhole }: { day: Day; isWhole: boolean }) {
    const left = day.single.length - SHOWN;
    return (
        <li class="week-day">
            <h3>{headOf(day.date)}</h3>
            {day.often.length > 0 && (
                <details>
                    <summary class="faint small">
                        {t("week.often", { n: day.often.length, starts: Math.round(day.often.reduce((sum, item) => sum + item.n, 0)).toLocaleString("en") })}
                    </summary>
                    <ul>
                        {day.often.map(({ job, n }) => (
                            <li key={job}>
                                <a href={hrefs.job(job)}>{job}</a> <span class="faint num">× {Math.round(n)}</span>
                            </li>
                        ))}
                    </ul>
                </details>
            )}
            <ul>
                {day.single.slice(0, SHOWN).map(({ at, job }) => (
                    <li key={`${at} ${job}`}>
                        <span class="num faint">{partsOf(at, zone.value).time.slice(0, 5)}</span>{" "}
                        <a data-row href={hrefs.job(job)} title={job}>
                            {job}
                        </a>
                    </li>
                ))}
                {left > 0 && <li class="faint">{t("herd.and", { n: left })}</li>}
            </ul>
            {!day.single.length && !day.often.length && <p class="faint small">{isWhole ? t("week.none") : "…"}</p>}
        </li>
    );
}

export function Week({ job, turn }: { job: string; turn: number }) {
    const found = useResource(`week ${job} ${turn}`, (signal) => {
        const from = Date.now();
        return api.get<TimelineData>("/timeline", { from: new Date(from).toISOString(), to: new Date(from + 7 * DAY_MS).toISOString(), job, limit: 1000 }, signal);
    });
    if (found.problem) return <Failure problem={found.problem} onRetry={found.reload} />;
    if (!found.data) return null;
    const dateOf = (ms: number): string => partsOf(ms, zone.value).date;
    const today = Date.parse(`${dateOf(Date.now())}T12:00:00Z`);
    const dates = Array.from({ length: 7 }, (_, i) => new Date(today + i * DAY_MS).toISOString().slice(0, 10));
    return (
        <Panel title={t("week")} beside={<span class="zone">{zone.value}</span>}>
            {!isCounted(found.data) && <p class="note warn">{t("week.more")}</p>}
            <ol class="week" tabIndex={0}>
                {daysOf(found.data, dates, dateOf).map((day) => (
                    <DayColumn key={day.date} day={day} isWhole={isCounted(found.data!)} />
                ))}
            </ol>
        </Panel>
    );
}
