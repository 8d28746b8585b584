import { byNode } from "@console/screens/job/figures";
import { boundOf, histogramOf, hoursOf, lineOf } from "@console/screens/nodes/samples";
import type { Run } from "@console/api/types";
import { describe, expect, test } from "vitest";

const HOUR = 3_600_000;

describe("samples of a node", () => {
    test("are a line with gaps", () => {
        expect(lineOf([10, null, 50, 200], 100, 90, 20)).toBe("M0.0 18.0M60.0 10.0L90.0 0.0");
        expect(lineOf([], 100, 90, 20)).toBe("");
    });
});

describe("latencies", () => {
    const text = ['x_bucket{le="0.001"} 5', 'x_bucket{le="0.01"} 9', 'x_bucket{le="1"} 10', 'x_bucket{le="+Inf"} 11', 'xy_bucket{le="1"} 99', "x_count 11"].join("\n");

    test("are bounds of a histogram", () => {
        const found = histogramOf(text, "x");
        expect([found.count, found.buckets.length]).toEqual([11, 4]);
        expect([0.4, 0.5, 0.9, 0.99].map((part) => boundOf(found, part))).toEqual([0.001, 0.01, 1, null]);
        expect(boundOf(histogramOf("", "x"), 0.5)).toBeNull();
    });
});

describe("runs by node", () => {
    const now = Date.parse("2026-11-15T12:30:00Z");
    const run = (node: string | null, hoursAgo: number, state = "ok") => ({ run_id: "r", node, state, started_at: new Date(now - hoursAgo * HOUR).toISOString() }) as Run;

    test("are counted by hour, those that failed apart", () => {
        const [a, b] = hoursOf([run("b", 0.1), run("a", 23.9), run("a", 0.5, "lost"), run("a", 25), run(null, 1), run("a", 0.2, "running")], now, 24);
        expect([a?.node, a?.total, a?.failed, b?.node, b?.total]).toEqual(["a", 3, 1, "b", 1]);
        expect([a?.hours[0], a?.hours[23]]).toEqual([{ ok: 1, bad: 0 }, { ok: 1, bad: 1 }]);
    });

    test("of a job, the most first", () => {
        expect(byNode([run("b", 1), run("a", 1), run("b", 2), run(null, 1)])).toEqual([{ node: "b", n: 2 }, { node: "a", n: 1 }]);
    });
});
