import { describe, expect, test } from "vitest";
import { hoursOf, latenessOf, sumOf } from "@console/screens/overview/day";
import type { Run, Stat } from "@console/api/types";

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

    test("are summed", () => {
        const sum = sumOf(hours);
        expect([sum.ok, sum.bad, sum.missed, sum.percent]).toEqual([40, 4, 4, 90.9]);
    });

    test("of nothing have no rate", () => expect(sumOf(hoursOf([], now))).toMatchObject({ percent: null }));
});

describe("start delays", () => {
    const iso = (ms: number): string => new Date(now + ms).toISOString();
    const run = (late: number, more: Partial<Run> = {}): Run =>
        ({ tick: iso(0), claimed_at: iso(-100), started_at: iso(late), cause: "tick", attempt: 1, part: null, ...more }) as Run;

    test("are those of scheduled runs, as median and p99", () => {
        const runs = Array.from({ length: 100 }, (_, i) => run(i));
        expect(latenessOf(runs)).toEqual({ n: 100, p50: 50, p99: 99 });
    });

    test("leave out what waited on purpose, or was not scheduled", () => {
        const others = [
            run(60_000, { claimed_at: iso(59_990) }), // in a queue
            run(9000, { cause: "manual" }),
            run(9000, { attempt: 2 }),
            run(9000, { started_at: null }),
        ];
        expect(latenessOf([run(3), ...others])).toEqual({ n: 1, p50: 3, p99: 3 });
        expect(latenessOf(others)).toBeNull();
    });
});
