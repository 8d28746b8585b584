import { describe, expect, test } from "vitest";
import { axisTicks } from "@console/ui/axis";
import { countOf, rowsOf, spanOf, type TimelineData } from "@console/screens/timeline/axis";
import { BINS, cutOf, daysOf, isCounted, lanesOf, total, type Counted } from "@console/screens/timeline/rates";
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
});

describe("lanes", () => {
    const rows = rowsOf(data);
    const sumOf = (lane: { bars: { [kind: string]: number }[] | null } | undefined, kind: string): number => Math.round((lane?.bars ?? []).reduce((sum, bar) => sum + (bar[kind] ?? 0), 0));

    test("few marks are marks, of a job or of a group", () => {
        expect(lanesOf(rows, data, [], null).map((lane) => [lane.name, lane.bars])).toEqual(["a", "b", "c", "d"].map((name) => [name, null]));
        const [first, second] = lanesOf(rows, data, [], (job) => (job < "c" ? "ab" : "cd"));
        expect([first?.name, first?.jobs, first?.marks.length, second?.marks.length]).toEqual(["ab", ["a", "b"], 6, 2]);
    });

    test("many are bars that count all of them", () => {
        const ticks = Array.from({ length: 200 }, (_, i) => ({ job: "z", at: new Date(Date.parse("2026-11-15T10:05:00Z") + i * 5000).toISOString() }));
        const lane = lanesOf(rowsOf({ ...data, ticks }), data, [], null).find((item) => item.name === "z");
        expect([lane?.bars?.length, sumOf(lane as never, "ticks")]).toEqual([BINS, 200]);
    });

    test("what was left out, and what was counted, is in the bars", () => {
        const dense = [{ job: "a", from: "2026-11-15T10:10:00Z", seconds: [...Array(500).keys()] }];
        const counted: Counted[] = [{ job: "a", spanMs: 1_800_000, stats: [{ from: "2026-11-15T09:30:00Z", ok: 90, failed: 8, lost: 2, skipped: 5 } as never] }];
        const [lane, other] = lanesOf(rows, { ...data, dense }, counted, null);
        expect(["ok", "bad", "missed", "ticks"].map((kind) => sumOf(lane as never, kind))).toEqual([90, 11, 11, 501]);
        expect(other?.bars).toBeNull();
        expect(Math.round(lane!.bars!.reduce((sum, bar) => sum + total(bar), 0))).toBe(613);
    });

    test("a job that was only counted has a lane, too", () => {
        const counted: Counted[] = [{ job: "x", spanMs: 60_000, stats: [{ from: "2026-11-15T09:30:00Z", ok: 1, failed: 0 }] }, { job: "y", spanMs: 60_000, stats: [] }];
        expect(lanesOf(rows, data, counted, null).map((lane) => lane.name)).toEqual(["a", "b", "c", "d", "x"]);
    });

    test("ticks are counted up to a thousand for each job", () => {
        const dense = (n: number) => [{ job: "a", from: data.from, seconds: Array<number>(n).fill(0) }];
        expect([isCounted(data), isCounted({ ...data, dense: dense(998) }), isCounted({ ...data, dense: dense(999) })]).toEqual([true, true, false]);
    });

    test("runs are cut where as many are there as were asked for", () => {
        expect(cutOf(data, 5)).toBeNull();
        expect(cutOf(data, 4)).toBe(Date.parse("2026-11-15T09:40:00Z"));
    });
});

describe("a week", () => {
    test("has seldom jobs with their times, and frequent ones with how often", () => {
        const ticks = [...Array(6).keys()].map((i) => ({ job: "often", at: `2026-11-15T1${i}:00:00Z` }));
        const week: TimelineData = { ...data, ticks: [{ job: "once", at: "2026-11-15T12:30:00Z" }, ...ticks], dense: [{ job: "often", from: "2026-11-16T00:00:00Z", seconds: [...Array(10).keys()].map((i) => i * 3600) }] };
        const [first, second, third] = daysOf(week, ["2026-11-15", "2026-11-16", "2026-11-17"], (ms) => new Date(ms).toISOString().slice(0, 10));
        expect([first?.often, first?.single.map((item) => item.job)]).toEqual([[{ job: "often", n: 6 }], ["once"]]);
        expect(second?.often).toEqual([{ job: "often", n: 10 }]);
        expect([third?.often, third?.single]).toEqual([[], []]);
    });
});
