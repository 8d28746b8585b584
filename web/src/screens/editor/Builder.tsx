// "Every weekday at 09:00 in Europe/Berlin", as a few choices that write the schedule for those who do not
// know cron by heart. What is typed and known is shown in them, too.
import { language } from "../../i18n/language";
import { hourSteps, kinds, minuteSteps, readSpec, usual, weekdays, writeSpec, type Built, type Kind } from "./built";
import { t } from "./builder_words";

// 2026-11-16 is a Monday.
function dayName(at: number): string {
    return new Intl.DateTimeFormat(language.value, { weekday: "short", timeZone: "UTC" }).format(Date.UTC(2026, 10, 16 + at));
}

const twoDigits = (n: number): string => String(n).padStart(2, "0");

function Steps({ built, set }: { built: Built; set: (change: Partial<Built>) => void }) {
    const unit = built.kind === "minutes" ? "minutes" : "hours";
    return (
        <select aria-label={t(`step.${unit}`)} value={built.step} onChange={(event) => set({ step: Number(event.currentTarget.value) })}>
            {(unit === "minutes" ? minuteSteps : hourSteps).map((n) => (
                <option key={n} value={n}>
                    {t(unit, { n })}
                </option>
            ))}
        </select>
    );
}

function Minute({ built, set }: { built: Built; set: (change: Partial<Built>) => void }) {
    return (
        <select aria-label={t("minute")} value={built.minute} onChange={(event) => set({ minute: Number(event.currentTarget.value) })}>
            {Array.from({ length: 60 }, (_, n) => (
                <option key={n} value={n}>
                    {t("minute.n", { n: twoDigits(n) })}
                </option>
            ))}
        </select>
    );
}

function Dates({ built, set }: { built: Built; set: (change: Partial<Built>) => void }) {
    return (
        <select aria-label={t("date")} value={built.date} onChange={(event) => set({ date: event.currentTarget.value })}>
            {[...Array.from({ length: 31 }, (_, i) => String(i + 1)), "L"].map((date) => (
                <option key={date} value={date}>
                    {date === "L" ? t("date.last") : t("date.n", { n: date })}
                </option>
            ))}
        </select>
    );
}

function Days({ built, set }: { built: Built; set: (change: Partial<Built>) => void }) {
    const flip = (day: string): void => {
        const days = weekdays.filter((other) => (other === day) !== built.days.includes(other));
        if (days.length) set({ days });
    };
    return (
        <span class="builder-days" role="group" aria-label={t("days")}>
            {weekdays.map((day, i) => (
                <button key={day} type="button" aria-pressed={built.days.includes(day)} onClick={() => flip(day)}>
                    {dayName(i)}
                </button>
            ))}
        </span>
    );
}

function Time({ built, set }: { built: Built; set: (change: Partial<Built>) => void }) {
    return (
        <>
            <span>{t("at")}</span>
            <input
                type="time"
                required
                aria-label={t("time")}
                value={`${twoDigits(built.hour)}:${twoDigits(built.minute)}`}
                onInput={(event) => {
                    const [hour = NaN, minute = NaN] = event.currentTarget.value.split(":").map(Number);
                    if (!Number.isNaN(hour + minute)) set({ hour, minute });
                }}
            />
        </>
    );
}

const dated: readonly Kind[] = ["day", "weekdays", "week", "month"];

export function Builder({ spec, zone, onChange }: { spec: string; zone: string; onChange: (spec: string) => void }) {
    const built = readSpec(spec);
    const set = (change: Partial<Built>): void => onChange(writeSpec({ ...(built ?? usual), ...change }));
    const choose = (kind: string): void => {
        if (kind) set({ kind: kind as Kind, step: kind === "minutes" ? 5 : 1 });
    };
    return (
        <div class="builder" role="group" aria-label={t("build")}>
            <select aria-label={t("kind")} value={built?.kind ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
                {!built && <option value="">{t("kind.custom")}</option>}
                {kinds.map((kind) => (
                    <option key={kind} value={kind}>
                        {t(`kind.${kind}`)}
                    </option>
                ))}
            </select>
            {built && (built.kind === "minutes" || built.kind === "hours") && <Steps built={built} set={set} />}
            {built?.kind === "hours" && <Minute built={built} set={set} />}
            {built?.kind === "week" && <Days built={built} set={set} />}
            {built?.kind === "month" && <Dates built={built} set={set} />}
            {built && dated.includes(built.kind) && (
                <>
                    <Time built={built} set={set} />
                    <span class="faint">{zone ? t("zone", { zone }) : t("zone.agent")}</span>
                </>
            )}
        </div>
    );
}
