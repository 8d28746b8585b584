import { describe, expect, test } from "vitest";
import { boundsOf, clockOf, daysIn, stepOf } from "@console/screens/settings/days";

const preview = {
    days: ["2026-12-25"],
    windows: [
        { from: "2026-11-30T22:00:00", to: "2026-12-01T06:00:00", window: "22:00-06:00" },
        { from: "2026-12-24T12:30:00+01:00", to: "2026-12-25T00:00:00+01:00", window: "2026-12-24 12:30-24:00" },
        { from: "2026-12-27T12:00:00", to: "2026-12-30T06:00:00", window: "2026-12-27T12:00/2026-12-30T06:00" },
    ],
    jobs: [
        { job: "a", field: "calendars" as const, skipped: 3, more: false, days: [{ day: "2026-12-24", skipped: 2 }, { day: "2027-01-01", skipped: 1 }] },
        { job: "b", field: "only_on" as const, skipped: 5, more: true, days: [{ day: "2026-12-24", skipped: 5 }] },
    ],
};

describe("the days of a calendar", () => {
    test("a month has its days, with what is out, the parts of windows, and the ticks of all jobs", () => {
        const days = daysIn("2026-12", preview);
        expect(days).toHaveLength(31);
        expect(days[0]).toMatchObject({ date: "2026-12-01", weekday: 2, out: false, parts: [{ from: 0, to: 6 }] });
        expect(days[1]?.parts).toEqual([]);
        expect(days[23]).toMatchObject({ parts: [{ from: 12.5, to: 24 }], skipped: 7 });
        expect(days[24]).toMatchObject({ out: true, parts: [], skipped: 0 }); // the window ends as the day begins
        expect(days.slice(26, 30).map(({ parts }) => parts.map(({ from, to }) => [from, to]))).toEqual([[[12, 24]], [[0, 24]], [[0, 24]], [[0, 6]]]);
    });

    test("a year has all of its days, also a leap year, and one without an answer has nothing out", () => {
        expect(daysIn("2026", preview)).toHaveLength(365);
        expect(daysIn("2028", null)).toHaveLength(366);
        expect(daysIn("2028", null).some((day) => day.out || day.parts.length)).toBe(false);
    });

    test("periods follow each other over the end of the year", () => {
        expect(stepOf("2026-12", 1)).toBe("2027-01");
        expect(stepOf("2026-01", -1)).toBe("2025-12");
        expect(stepOf("2026", -1)).toBe("2025");
        expect(boundsOf("2026-12").map((ms) => new Date(ms).toISOString().slice(0, 10))).toEqual(["2026-12-01", "2027-01-01"]);
    });

    test("hours are shown as a clock does", () => {
        expect([0, 9.5, 17.75, 24].map(clockOf)).toEqual(["00:00", "09:30", "17:45", "24:00"]);
    });
});
