import { Problem } from "@console/api/client";
import { matches } from "@console/screens/editor/Choices";
import { readSpec, usual, writeSpec, type Built } from "@console/screens/editor/built";
import { allMistakes, withoutMistake } from "@console/screens/editor/mistakes";
import { fromTemplate, templates } from "@console/screens/editor/templates";
import { trialOf } from "@console/screens/editor/trial";
import { describe, expect, test } from "vitest";

describe("the schedule builder", () => {
    const built: [string, Partial<Built>][] = [
        ["* * * * *", { kind: "minutes", step: 1 }],
        ["*/15 * * * *", { kind: "minutes", step: 15 }],
        ["5 * * * *", { kind: "hours", step: 1, minute: 5 }],
        ["5 */6 * * *", { kind: "hours", step: 6, minute: 5 }],
        ["30 2 * * *", { kind: "day", hour: 2, minute: 30 }],
        ["0 9 * * MON-FRI", { kind: "weekdays" }],
        ["0 9 * * MON,THU", { kind: "week", days: ["MON", "THU"] }],
        ["0 9 15 * *", { kind: "month", date: "15" }],
        ["0 9 L * *", { kind: "month", date: "L" }],
        ["@manual", { kind: "manual" }],
    ];
    test.each(built)("%s, there and back", (spec, parts) => {
        expect(readSpec(spec)).toEqual({ ...usual, ...parts });
        expect(writeSpec({ ...usual, ...parts })).toBe(spec);
    });

    test.each([
        ["@daily", "0 0 * * *"],
        ["@weekly", "0 0 * * SUN"],
        ["0 9 * * 1-5", "0 9 * * MON-FRI"],
        ["0 9 * * 0,wed", "0 9 * * WED,SUN"],
        [" 07 09 01 * * ", "7 9 1 * *"],
    ])("%s is %s", (spec, plain) => expect(writeSpec(readSpec(spec)!)).toBe(plain));

    test.each(["", "H 3 * * *", "0 9 * 1 *", "*/7 * * * *", "0 9 1 * MON", "0 9 1,15 * *", "0 9 * * MON#2", "0 0 9 * * *", "60 9 * * *", "0 24 * * *", "0 9 0 * *", "@every 5m", "TZ=UTC 0 9 * * *"])(
        "%s is more than it can say",
        (spec) => expect(readSpec(spec)).toBeNull(),
    );
});

describe("all mistakes", () => {
    test("each field is left out in turn, and what is needed is made good", () => {
        const draft = { schedule: "x", command: [], retries: { count: 1, wait: "x" } };
        expect(withoutMistake(draft, "/retries/wait")).toEqual({ ...draft, retries: 1 });
        expect(withoutMistake(draft, "/schedule")).toEqual({ ...draft, schedule: "@manual" });
        expect(withoutMistake(draft, "/command/0")).toEqual({ ...draft, command: ["true"] });
        expect(withoutMistake(draft, "")).toBeNull();
        expect(withoutMistake(draft, "/name")).toBeNull();
    });

    const wrong = (pointer: string): Problem => new Problem(422, pointer, null, [{ pointer, line: 0, column: 0, message: pointer }]);

    test("are told in the order of the server, each once", async () => {
        const check = async (draft: Record<string, unknown>): Promise<void> => {
            for (const name of ["timeout", "grace"]) if (name in draft) throw wrong(`/${name}`);
        };
        const found = await allMistakes({ timeout: "x", grace: "y", owner: "z" }, wrong("/timeout"), check);
        expect(found.map((item) => item.pointer)).toEqual(["/timeout", "/grace"]);
    });

    test("end where the server says the same again, or something else is wrong", async () => {
        const again = await allMistakes({ a: 1 }, wrong("/a"), async () => Promise.reject(wrong("/a")));
        expect(again.length).toBe(1);
        const gone = await allMistakes({ a: 1 }, wrong("/a"), async () => Promise.reject(new Problem(403, "no")));
        expect(gone.length).toBe(1);
    });
});

describe("labels of nodes", () => {
    const labels = { zone: "eu", ssd: "" };
    test.each([
        ["", true],
        ["zone=eu", true],
        ["zone=eu, !gpu", true],
        ["zone!=us", true],
        ["gpu!=old", true],
        ["ssd", true],
        ["zone=us", false],
        ["!zone", false],
        ["a b", null],
    ])("%s: %s", (selector, matched) => expect(matches(selector, labels)).toBe(matched));
});

describe("a trial and templates", () => {
    test("a trial runs the same, and only once", () => {
        const draft = { name: "a", schedule: "@daily", timezone: "UTC", shell: "x", timeout: "1h", notify: "ops", retries: { count: 2 }, labels: { team: "x" }, where: "ssd" };
        expect(trialOf(draft, "n")).toEqual({ shell: "x", timeout: "1h", where: "ssd", schedule: "@manual", labels: { trial: "true" }, delete_after: "1h", notes: "n" });
        expect(trialOf({ after: [{ job: "b" }], steps: [] }, "n")).toEqual({ steps: [], schedule: "@manual", labels: { trial: "true" }, delete_after: "1h", notes: "n" });
    });

    test("a template has the zone, and no calendar that is not there", () => {
        const report = templates.find((template) => template.name === "report")!.draft;
        expect(fromTemplate(report, "a", "Asia/Tokyo", [])).toMatchObject({ name: "a", timezone: "Asia/Tokyo" });
        expect("calendars" in fromTemplate(report, "a", "UTC", [])).toBe(false);
        expect(fromTemplate(report, "a", "UTC", ["holidays"])["calendars"]).toEqual(["holidays"]);
        expect("timezone" in fromTemplate(templates.find((template) => template.name === "chain")!.draft, "a", "UTC", [])).toBe(false);
    });
});
