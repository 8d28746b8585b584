import { describe, expect, test } from "vitest";
import {
    aftersOf,
    areParams,
    arePairs,
    compare,
    formatPairs,
    formatParams,
    isWorkflow,
    joinWords,
    merge,
    parsePairs,
    parseParams,
    readAt,
    same,
    schedulesOf,
    splitWords,
    waiting,
    withAfters,
    withSchedules,
    writeAt,
} from "@console/screens/editor/draft";
import { callFields, fieldAt, helpOf, labelOf, sections, valueOf, whenFields } from "@console/screens/editor/fields";
import { jobFields } from "@console/screens/editor/job_fields";
import { diffLines, nearChanges } from "@console/ui/line_diff";

describe("parameters", () => {
    test.each([
        ["day", { day: {} }],
        ["day = 2026-11-01\ncount: integer = 5\n\nwide :number", { day: { default: "2026-11-01" }, count: { type: "integer", default: "5" }, wide: { type: "number" } }],
        ["a =", { a: { default: "" } }],
        ["a = b = c", { a: { default: "b = c" } }],
    ])("%j", (text, params) => {
        expect(parseParams(text)).toEqual(params);
        expect(parseParams(formatParams(params))).toEqual(params);
    });

    test("none", () => expect(parseParams(" \n")).toBeUndefined());

    test("what lines can't say is left to YAML", () => {
        expect(areParams(undefined)).toBe(true);
        expect(areParams({ a: {}, b: { type: "integer", default: 5 } })).toBe(true);
        expect(areParams({ a: { allowed: ["x"] } })).toBe(false);
        expect(areParams({ a: { default: "x\ny" } })).toBe(false);
    });
});

describe("what a job waits for", () => {
    test.each([
        ["a", [{ job: "a", on: "success" }]],
        [["a", { job: "b", on: "always" }], [{ job: "a", on: "success" }, { job: "b", on: "always" }]],
        [{ jobs: ["a", "b"], on: "failure" }, [{ job: "a", on: "failure" }, { job: "b", on: "failure" }]],
    ])("%j", (after, items) => expect(aftersOf({ after })).toEqual(items));

    test("is written as the server has it", () => {
        const after = [{ job: "a" }, { job: "b", on: "always" }];
        expect(withAfters({}, aftersOf({ after }))).toEqual({ after });
    });

    test("comes instead of all that ticks need, and goes for a schedule", () => {
        const draft = { name: "x", schedule: "@daily", timezone: "UTC", jitter: "5s", catch_up: "all", timeout: "5m" };
        const waits = waiting(draft, true, "UTC");
        expect(waits).toEqual({ name: "x", timeout: "5m", after: [{ job: "" }] });
        expect(waiting(waits, false, "UTC")).toEqual({ name: "x", timeout: "5m", schedule: "", timezone: "UTC" });
    });
});

describe("the form", () => {
    test("has every field but those with inputs of their own, once", () => {
        const shown = [...whenFields, ...callFields, ...sections.flatMap((section) => section.fields)].map((field) => field.name);
        const own = ["after", "calendars", "only_on", "command", "finally", "function.digest", "function.name", "function.program", "function.version", "http.url", "kind", "name", "paused", "schedule", "schedules", "shell", "steps", "timezone"];
        expect([...shown, ...own].sort()).toEqual(jobFields.map((field) => field.name).sort());
    });

    test("has words for each", () => {
        for (const { name, en, zh } of jobFields) {
            expect([labelOf(name), helpOf(name)]).toEqual(en);
            expect(en.concat(zh).every(Boolean)).toBe(true);
        }
    });
});

describe("a workflow", () => {
    test.each([
        [{ name: "a", command: ["true"] }, false],
        [{ name: "a", kind: "job", shell: "x" }, false],
        [{ name: "a", kind: "workflow" }, true],
        [{ name: "a", steps: [{ name: "x", shell: "y" }] }, true],
        [{ name: "a", finally: [] }, true],
    ])("%j", (draft, isOne) => expect(isWorkflow(draft)).toBe(isOne));
});

describe("a line of YAML", () => {
    const lines = ["name: a", "overlap:", "  policy: queue", "  queue: 3", "env:", "  user: me", "shell: |", "  nice: 1", "limits:", "notes"];
    test.each([
        [0, "name"],
        [1, "overlap.policy"],
        [2, "overlap.policy"],
        [3, "overlap.queue"],
        [5, "env"],
        [7, "shell"],
        [8, undefined],
        [9, "notes"],
        [10, "notes"],
    ])("%i is about %s", (at, name) => expect(fieldAt(lines, at)?.name).toBe(name));
});

describe("a command", () => {
    test.each([
        ["/bin/echo  a b", ["/bin/echo", "a", "b"]],
        ["echo 'a b' \"c d\"", ["echo", "a b", "c d"]],
        ["echo a\\ b ''", ["echo", "a b", ""]],
        ['echo "a \\" b" \\\\', ["echo", 'a " b', "\\"]],
        ["echo it'\\''s", ["echo", "it\\s"]],
        ["echo 'still open", ["echo", "still open"]],
        ["   ", []],
    ])("%s", (text, words) => expect(splitWords(text)).toEqual(words));

    test("is the same after it was shown", () => {
        const words = ["/bin/x", "a b", "", "it's", '"', "$HOME", "--n=1", "\\"];
        expect(splitWords(joinWords(words))).toEqual(words);
    });
});

describe("parts of a definition", () => {
    test("are read in the short form and in the long one", () => {
        expect(readAt({ overlap: "queue" }, ["overlap", "policy"])).toBe("queue");
        expect(readAt({ overlap: { policy: "queue", queue: 3 } }, ["overlap", "queue"])).toBe(3);
        expect(readAt({}, ["limits", "memory"])).toBeUndefined();
    });

    test.each([
        [{ overlap: "queue" }, "overlap.queue", 3, { overlap: { policy: "queue", queue: 3 } }],
        [{ overlap: { policy: "queue", queue: 3 } }, "overlap.queue", undefined, { overlap: "queue" }],
        [{ overlap: "queue" }, "overlap.policy", undefined, {}],
        [{ limits: { nice: 1 } }, "limits.nice", undefined, {}],
        [{}, "limits.memory", "2GiB", { limits: { memory: "2GiB" } }],
        [{ a: 1 }, "timeout", "2h", { a: 1, timeout: "2h" }],
    ])("%j: %s = %j", (draft, path, value, after) => expect(writeAt(draft, path.split("."), value)).toEqual(after));

    test("one schedule is `schedule`, several are `schedules`", () => {
        expect(withSchedules({ schedule: "a" }, ["a", "b"])).toEqual({ schedules: ["a", "b"] });
        expect(withSchedules({ schedules: ["a", "b"] }, ["b"])).toEqual({ schedule: "b" });
        expect(schedulesOf({})).toEqual([""]);
    });

    test("pairs", () => {
        expect(parsePairs("A=1\n\n B = x=y\nC")).toEqual({ A: "1", B: " x=y", C: "" });
        expect(parsePairs(" \n")).toBeUndefined();
        expect(formatPairs({ A: 1, B: "x" })).toBe("A=1\nB=x");
        expect([arePairs({ A: "x" }), arePairs({ A: "x\ny" })]).toEqual([true, false]);
    });

    test.each([
        ["number", "12", 12],
        ["number", "2GiB", "2GiB"],
        ["text", "12", "12"],
        ["text", "", undefined],
    ] as const)("%s %s", (kind, text, value) => expect(valueOf(kind, text)).toBe(value));

    test("maps are the same in any order, lists are not", () => {
        expect(same({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toBe(true);
        expect(same([1, 2], [2, 1])).toBe(false);
        expect(same({ a: undefined }, {})).toBe(false);
    });
});

describe("two who edit", () => {
    const base = { name: "x", schedule: "@daily", command: ["a"], timeout: "1h", owner: "me" };
    const mine = { name: "x", schedule: "@hourly", command: ["a"], timeout: "2h", owner: "me" };
    const theirs = { name: "x", schedules: ["@weekly"], command: ["b"], timeout: "2h", owner: "me" };

    test("are told apart by field", () => {
        expect(compare(base, mine, theirs).map((row) => [row.field, row.side, row.both])).toEqual([
            ["schedule schedules after", "mine", true],
            ["command shell http", "theirs", false],
        ]);
    });

    test("are merged as chosen; what belongs together stays together", () => {
        const chosen = new Set(["schedule schedules after"]);
        expect(merge(mine, theirs, chosen)).toEqual({ name: "x", schedule: "@hourly", command: ["b"], timeout: "2h", owner: "me" });
        expect(merge(mine, theirs, new Set())).toEqual(theirs);
    });
});

describe("lines", () => {
    test("that differ are told, with what is around them", () => {
        const before = ["1", "2", "3", "4", "5", "6"];
        const after = ["1", "2", "3", "4", "five", "6", "7"];
        const lines = nearChanges(diffLines(before, after), 1);
        expect(lines.map((line) => `${line.kind[0]} ${line.text}`)).toEqual(["g …", "s 4", "r 5", "a five", "s 6", "a 7"]);
    });

    test("of nothing are all new", () => {
        expect(diffLines([], ["a"])).toEqual([{ kind: "added", text: "a" }]);
    });
});
