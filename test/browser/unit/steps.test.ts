import { describe, expect, test } from "vitest";
import type { Step } from "@console/api/types";
import { barsOf, criticalPath, edgesOf, itemsOf, nodesOf, stateOf } from "@console/graph/steps";
import { edgesOfDefinition } from "@console/screens/job/Workflow";

const T = Date.parse("2026-11-18T06:00:00Z");

function step(name: string, from: number | null, to: number | null, after: string[] = [], more: Partial<Step> = {}): Step {
    const at = (s: number | null): string | null => (s === null ? null : new Date(T + s * 1000).toISOString());
    return {
        name,
        after: after.map((other) => ({ step: other, on: "success" })),
        join: null,
        when: null,
        each: null,
        final: false,
        state: to === null ? (from === null ? "waiting" : "running") : "ok",
        earlier: false,
        reason: null,
        detail: null,
        run_id: from === null ? null : `id-${name}`,
        node: null,
        started_at: at(from),
        finished_at: at(to),
        exit_code: null,
        attempt: 1,
        attempts: null,
        items: null,
        why: null,
        ...more,
    };
}

describe("steps", () => {
    const steps = [step("a", 0, 10), step("fast", 10, 11, ["a"]), step("slow", 10, 30, ["a"]), step("end", 30, 40, ["fast", "slow"])];

    test("the critical path is what the end had to wait for", () => {
        expect([...criticalPath(steps, T + 60_000)].sort()).toEqual(["a", "end", "slow"]);
        expect([...criticalPath([], T)]).toEqual([]);
    });

    test("what did not run is passed over", () => {
        const some = [step("a", 0, 10), step("skipped", null, null, ["a"], { state: "skipped" }), step("end", 10, 12, ["skipped"])];
        expect([...criticalPath(some, T + 60_000)].sort()).toEqual(["a", "end"]);
    });

    test("a step that runs ends now", () => {
        const open = [step("a", 0, 10), step("b", 10, null, ["a"]), step("c", null, null, ["b"])];
        expect([...criticalPath(open, T + 60_000)].sort()).toEqual(["a", "b"]);
        const { bars, span } = barsOf(open, T, T + 20_000);
        expect(span).toBe(20_000);
        expect(bars.map((bar) => [bar.step.name, bar.from, bar.to])).toEqual([["a", 0, 0.5], ["b", 0.5, 1]]);
    });

    test("nodes and edges", () => {
        const nodes = nodesOf([steps[0]!, step("w", null, null, ["a"]), step("n", null, null, ["a"], { state: null })], () => "", () => undefined);
        expect(nodes.map((node) => [node.id, node.state, node.isFaint])).toEqual([["a", "ok", false], ["w", "waiting", true], ["n", "unreached", true]]);
        expect(edgesOf(steps, (from, to, on) => `${from} ${to} ${on}`).map((edge) => edge.label)).toEqual([
            "a fast success",
            "a slow success",
            "fast end success",
            "slow end success",
        ]);
        expect(stateOf(step("x", null, null, [], { state: null }))).toBe("unreached");
    });

    test("items of a fan-out are counted", () => {
        expect(itemsOf(step("f", 0, null, [], { items: { ok: 3, failed: 1, running: 2, skipped: 1 } }))).toEqual({ ended: 5, all: 7, failed: 1 });
        expect(itemsOf(step("f", 0, null))).toBeNull();
    });

    test("edges of a definition, in every form of after, and to finally", () => {
        const edges = edgesOfDefinition({
            steps: [{ name: "a" }, { name: "b", after: "a" }, { name: "c", after: ["a", { step: "b", on: "failure" }] }],
            finally: [{ name: "clean" }],
        });
        expect(edges).toEqual([
            { from: "a", to: "b", on: "success" },
            { from: "a", to: "c", on: "success" },
            { from: "b", to: "c", on: "failure" },
            { from: "c", to: "clean", on: "always" },
        ]);
    });
});
