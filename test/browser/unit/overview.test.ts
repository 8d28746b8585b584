import { describe, expect, test } from "vitest";
import { hoursOf, sumOf } from "@console/screens/overview/day";
import type { Stat } from "@console/api/types";

const now = Date.parse("2026-11-15T10:30:00Z");

function stat(hour: string, ok: number, failed: number, late: number | null): Stat {
    return { from: `2026-11-15T${hour}:00:00.000Z`, ok, failed, timed_out: 1, missed: 2, skipped: 0, mean_late_ms: late };
}

describe("the last hours", () => {
    const hours = hoursOf([stat("08", 10, 0, 100), stat("10", 30, 2, 200)], now, 3);

    test("are all there, the current one last", () => {
        expect(hours.map((hour) => [new Date(hour.at).getUTCHours(), hour.ok, hour.bad, hour.missed])).toEqual([
            [8, 10, 1, 2],
            [9, 0, 0, 0],
            [10, 30, 3, 2],
        ]);
    });

    test("are summed; lateness is weighed by how many ran", () => {
        const sum = sumOf(hours);
        expect([sum.ok, sum.bad, sum.missed, sum.percent]).toEqual([40, 4, 4, 90.9]);
        expect(sum.lateMs).toBeCloseTo((100 * 11 + 200 * 33) / 44);
    });

    test("of nothing have no rate", () => expect(sumOf(hoursOf([], now))).toMatchObject({ percent: null, lateMs: null }));
});
