// The days of a year as squares, a column for each week.
import { language } from "../../i18n/language";
import { t } from "./guards_words";

const CELL = 9;
export const MONDAY_FIRST = [1, 2, 3, 4, 5, 6, 0];

// 2026-11-15 was a Sunday.
export function weekdayName(weekday: number): string {
    return new Date(2026, 10, 15 + weekday).toLocaleDateString(language.value, { weekday: "short" });
}

interface Square {
    date: string;
    weekday: number;
    out: boolean;
    parts?: unknown[];
    skipped?: number;
}

export function YearGrid({ days }: { days: Square[] }) {
    const start = (days[0]?.weekday ?? 0) + 6;
    const place = (i: number): { x: number; y: number } => ({
        x: Math.floor(((start % 7) + i) / 7) * CELL,
        y: ((start + i) % 7) * CELL,
    });
    return (
        <svg class="year" viewBox={`0 0 ${54 * CELL} ${7 * CELL + 12}`} aria-hidden="true">
            {days.map((day, i) => (
                <>
                    <rect class={day.out ? "is-out" : day.parts?.length ? "is-part" : ""} {...place(i)} width={CELL - 2} height={CELL - 2}>
                        <title>{`${day.date}${day.skipped ? ` · ${t("skipped", { n: day.skipped })}` : ""}`}</title>
                    </rect>
                    {day.date.endsWith("-01") && (
                        <text x={place(i).x} y={7 * CELL + 9}>
                            {+day.date.slice(5, 7)}
                        </text>
                    )}
                </>
            ))}
        </svg>
    );
}
