import { describe, expect, test } from "vitest";
import { axisTicks } from "@console/ui/axis";
import { countOf, herdsOf, rowsOf, spanOf, type TimelineData } from "@console/screens/timeline/axis";
import type { Entry, Run } from "@console/api/types";

const HOUR = 3_600_000;
const hoursOf = (ticks: number[]): string[] => ticks.map((at) => new Date(at).toISOString().slice(5, 16));

describe("the axis", () => {
    test("has round moments of the zone", () => {
        const from = Date.parse("2026-11-15T10:05:00Z");
        expect(hoursOf(axisTicks(from, from + 3 * HOUR, HOUR, "Asia/Kolkata"))).toEqual(["11-15T10:30", "11-15T11:30", "11-15T12:30"]);
    });

    test("has midnights also when the clock jumps between them", () => {
        const from = Date.parse("2026-10-23T12:00:00Z");
        const found = hoursOf(axisTicks(from, from + 3 * 24 * HOUR, 24 * HOUR, "Europe/Berlin"));
        expect(found).toEqual(["10-23T22:00", "10-24T22:00", "10-25T23:00"]);
    });

    test("shows an hour unless told", () => expect([spanOf(null).name, spanOf("week").name]).toEqual(["hour", "week"]));
});

const run = (job: string, state: Run["state"], started: string | null, finished: string | null): Run =>
    ({ run_id: `${job}${started}`, job, state, tick: "2026-11-15T10:00:00Z", started_at: started, finished_at: finished }) as Run;

const data: TimelineData = {
    from: "2026-11-15T09:30:00Z",
    to: "2026-11-15T10:30:00Z",
    now: "2026-11-15T10:01:00Z",
    runs: [
        run("b", "ok", "2026-11-15T10:00:00Z", "2026-11-15T10:00:30Z"),
        run("b", "running", "2026-11-15T10:00:40Z", null),
        run("a", "timed_out", "2026-11-15T09:50:00Z", "2026-11-15T09:55:00Z"),
        { entry_id: "e", job: "a", from: "2026-11-15T09:40:00Z", to: "2026-11-15T09:45:00Z", count: 6, state: "missed" } as Entry,
    ],
    ticks: ["a", "b", "c", "d"].map((job) => ({ at: "2026-11-15T10:15:00Z", job })),
    herds: [
        { at: "2026-11-15T10:15:00Z", jobs: 4 },
        { at: "2026-11-15T10:20:00Z", jobs: 3 },
    ],
    more: false,
};

describe("rows", () => {
    const rows = rowsOf(data);

    test("are by name, with marks in the order of time", () => {
        expect(rows.map((row) => [row.job, ...row.marks.map((mark) => mark.kind)])).toEqual([
            ["a", "missed", "bad", "tick"],
            ["b", "ok", "open", "tick"],
            ["c", "tick"],
            ["d", "tick"],
        ]);
    });

    test("what is open reaches to now", () => expect(rows[1]?.marks[1]?.to).toBe(Date.parse(data.now)));

    test("ticks that did not run count as many as they were", () => expect(countOf(rows, ["missed"])).toBe(6));

    test("a herd has a name for each of its jobs; few are no herd", () => {
        expect(herdsOf(data, 5)).toEqual([{ at: "2026-11-15T10:15:00Z", jobs: 4, names: ["a", "b", "c", "d"] }]);
    });
});
