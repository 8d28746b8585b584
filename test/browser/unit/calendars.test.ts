import { describe, expect, test } from "vitest";
import { daysOf, linesOf } from "@console/screens/settings/dates";

function outOf(year: number, dates: string[], weekdays: string[] = []): string[] {
    return daysOf(year, { dates, weekdays }).flatMap((day) => (day.out ? [day.date.slice(5)] : []));
}

describe("the picture of a calendar", () => {
    test("has every day of the year", () => {
        expect(daysOf(2026, { dates: [], weekdays: [] })).toHaveLength(365);
        expect(daysOf(2028, { dates: [], weekdays: [] })).toHaveLength(366);
    });

    test.each<[number, string[], string[]]>([
        [2026, ["2026-12-25"], ["12-25"]],
        [2027, ["2026-12-25"], []],
        [2026, ["2026-10-01/2026-10-03"], ["10-01", "10-02", "10-03"]],
        [2027, ["2026-12-31/2027-01-01"], ["01-01"]],
        [2031, ["12-25"], ["12-25"]],
        [2031, ["12-30/01-02"], ["01-01", "01-02", "12-30", "12-31"]],
        [2027, ["02-29"], []],
        [2028, ["02-29"], ["02-29"]],
        [2026, ["nonsense"], []],
    ])("of %i with %j", (year, dates, want) => {
        expect(outOf(year, dates)).toEqual(want);
    });

    test("with weekdays", () => {
        expect(outOf(2026, [], ["sun"]).slice(0, 2)).toEqual(["01-04", "01-11"]);
    });

    test("takes lines and commas", () => {
        expect(linesOf(" 12-25,\n\n2026-01-01 ")).toEqual(["12-25", "2026-01-01"]);
    });
});
