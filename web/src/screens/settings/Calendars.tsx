// Named sets of dates and windows in which jobs do not run.
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import type { Calendar, Page } from "../../api/types";
import { href, hrefs, location } from "../../app/router";
import { may } from "../../app/session";
import { toastDone } from "../../app/toasts";
import { Button, Empty, Failure, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { Ask } from "./Ask";
import { CalendarView } from "./CalendarView";
import { daysOf, linesOf, weekdays, type Dates } from "./dates";
import { t as guards } from "./guards_words";
import { t } from "./words";
import { MONDAY_FIRST, weekdayName, YearGrid } from "./YearGrid";

function YearView(dates: Dates) {
    const [year, setYear] = useState(() => new Date().getUTCFullYear());
    const days = daysOf(year, dates);
    return (
        <div>
            <div class="year-head">
                <Button small title={guards("before")} onClick={() => setYear(year - 1)}>
                    ‹
                </Button>
                <strong class="num">{year}</strong>
                <Button small title={guards("after")} onClick={() => setYear(year + 1)}>
                    ›
                </Button>
                <span class="faint small" role="status">
                    {t("year.out", { n: days.filter((day) => day.out).length })}
                </span>
            </div>
            <YearGrid days={days} />
        </div>
    );
}

function EditDialog({ calendar, onClose, onDone }: { calendar: Calendar | null; onClose: () => void; onDone: () => void }) {
    const [name, setName] = useState(calendar?.name ?? "");
    const [text, setText] = useState(calendar?.dates.join("\n") ?? "");
    const [days, setDays] = useState(calendar?.weekdays ?? []);
    const [windows, setWindows] = useState(calendar?.windows?.join("\n") ?? "");
    const [timezone, setTimezone] = useState(calendar?.timezone ?? "");
    const [notes, setNotes] = useState(calendar?.notes ?? "");
    const dates = linesOf(text);
    // Commas stand between the weekdays of a window.
    const lines = windows.split("\n").map((line) => line.trim()).filter(Boolean);
    const save = async (): Promise<void> => {
        await api.put(`/calendars/${encodeURIComponent(name)}`, { dates, weekdays: days, ...(lines[0] ? { windows: lines } : {}), ...(timezone ? { timezone } : {}), ...(notes ? { notes } : {}) }, {
            headers: calendar ? { "If-Match": `"${calendar.revision}"` } : { "If-None-Match": "*" },
        });
        toastDone(t("saved"));
        onDone();
    };
    return (
        <Ask title={calendar ? t("user.title", { name }) : t("calendar.new").replace("…", "")} action={t(calendar ? "user.change" : "user.add")} onDo={save} onClose={onClose}>
            {!calendar && (
                <label>
                    {t("name")}
                    <input required autofocus autocomplete="off" value={name} onInput={(event) => setName(event.currentTarget.value)} />
                </label>
            )}
            <label>
                {t("calendar.dates")}
                <textarea class="mono" rows={6} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
                <span class="faint small">{t("calendar.dates.text")}</span>
            </label>
            <fieldset class="year-head">
                <legend>{t("calendar.weekdays")}</legend>
                {MONDAY_FIRST.map((weekday) => {
                    const day = weekdays[weekday] ?? "";
                    return (
                        <label key={day} class="check">
                            <input
                                type="checkbox"
                                checked={days.includes(day)}
                                onChange={(event) => setDays(event.currentTarget.checked ? [...days, day] : days.filter((other) => other !== day))}
                            />
                            {weekdayName(weekday)}
                        </label>
                    );
                })}
            </fieldset>
            <YearView dates={dates} weekdays={days} />
            <label>
                {guards("windows")}
                <textarea class="mono" rows={3} spellcheck={false} placeholder="mon-fri 09:00-17:30&#10;2026-12-24 12:00-24:00" value={windows} onInput={(event) => setWindows(event.currentTarget.value)} />
            </label>
            <label>
                {guards("timezone")}
                <input value={timezone} autocomplete="off" spellcheck={false} onInput={(event) => setTimezone(event.currentTarget.value)} />
            </label>
            <label>
                {t("calendar.notes")}
                <input value={notes} onInput={(event) => setNotes(event.currentTarget.value)} />
            </label>
        </Ask>
    );
}

function Row({ calendar, onEdit, onDelete }: { calendar: Calendar; onEdit: () => void; onDelete: () => void }) {
    const days = MONDAY_FIRST.filter((weekday) => calendar.weekdays.includes(weekdays[weekday] ?? "")).map(weekdayName);
    const all = [...days, ...calendar.dates, ...(calendar.windows ?? [])];
    return (
        <tr>
            <td>
                <a href={href("/settings", { tab: "calendars", calendar: calendar.name })}>
                    <strong>{calendar.name}</strong>
                </a>
                {calendar.timezone && <span class="zone"> {calendar.timezone}</span>}
                {calendar.notes && <div class="faint small">{calendar.notes}</div>}
            </td>
            <td title={all.join("\n")}>
                {all.slice(0, 5).join(", ")}
                {all.length > 5 && " …"}
            </td>
            <td>
                {calendar.jobs.map((job) => (
                    <a key={job} href={hrefs.job(job)}>
                        {job}{" "}
                    </a>
                ))}
                {calendar.job_count > calendar.jobs.length && `+ ${calendar.job_count - calendar.jobs.length}`}
            </td>
            <td class="right">
                {may("edit") && (
                    <div class="calendar-actions">
                        <Button small onClick={onEdit}>
                            {t("user.edit")}
                        </Button>
                        <Button small icon="trash" title={t("user.delete.ask", { name: calendar.name })} onClick={onDelete} />
                    </div>
                )}
            </td>
        </tr>
    );
}

export function Calendars() {
    const calendars = useResource("calendars", (signal) => api.get<Page<Calendar>>("/calendars", {}, signal));
    const [edited, setEdited] = useState<Calendar | "new" | null>(null);
    const [deleted, setDeleted] = useState<Calendar | null>(null);
    useEffect(() => onLive("calendar", calendars.reload), []);
    useEffect(() => onLive("reset", calendars.reload), []);
    if (calendars.problem) return <Failure problem={calendars.problem} onRetry={calendars.reload} />;
    if (!calendars.data) return null;
    const { items } = calendars.data;
    const done = (): void => {
        setEdited(null);
        setDeleted(null);
        calendars.reload();
    };
    const remove = async ({ name, revision }: Calendar): Promise<void> => {
        await api.delete(`/calendars/${encodeURIComponent(name)}`, { headers: { "If-Match": `"${revision}"` } });
        toastDone(t("deleted", { name }));
        done();
    };
    const shown = items.find(({ name }) => name === location.value.query.get("calendar"));
    return (
        <>
            <Panel
                title={t("tab.calendars")}
                beside={
                    may("edit") && (
                        <Button small icon="plus" onClick={() => setEdited("new")}>
                            {t("calendar.new")}
                        </Button>
                    )
                }
            >
                {!items.length && <Empty icon="clock" title={t("calendar.none")} />}
                {items.length > 0 && (
                    <div class="table-scroll" tabIndex={0} role="region" aria-label={t("tab.calendars")}>
                        <table class="table">
                            <thead>
                                <tr>
                                    <th>{t("name")}</th>
                                    <th>{t("calendar.dates")}</th>
                                    <th>{t("calendar.jobs")}</th>
                                    <th />
                                </tr>
                            </thead>
                            <tbody>
                                {items.map((calendar) => (
                                    <Row
                                        key={calendar.name}
                                        calendar={calendar}
                                        onEdit={() => setEdited(calendar)}
                                        onDelete={() => setDeleted(calendar)}
                                    />
                                ))}
                            </tbody>
                        </table>
                    </div>
                )}
                {edited && <EditDialog calendar={edited === "new" ? null : edited} onClose={() => setEdited(null)} onDone={done} />}
                {deleted && (
                    <Ask
                        danger
                        title={t("user.delete.ask", { name: deleted.name })}
                        action={t("user.delete.do")}
                        onDo={() => remove(deleted)}
                        onClose={() => setDeleted(null)}
                    >
                        <p>{t("calendar.delete.text")}</p>
                    </Ask>
                )}
            </Panel>
            {shown && <CalendarView key={shown.name} name={shown.name} version={shown.revision} />}
        </>
    );
}
