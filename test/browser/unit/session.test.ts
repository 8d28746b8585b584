import { afterEach, describe, expect, test } from "vitest";
import { may, mayIn, maySomewhere, me, type Right } from "@console/app/session";

function login(rights: Right[], namespaces: Record<string, Right[]>): void {
    me.value = {
        name: "eve",
        role: "none",
        kind: "user",
        rights,
        namespaces: Object.entries(namespaces).map(([namespace, granted]) => ({ namespace, role: "", rights: granted })),
    };
}

afterEach(() => {
    me.value = null;
});

describe("rights", () => {
    test("of nobody are none", () => {
        expect([may("view"), may("view", "a"), maySomewhere("view"), mayIn("view")]).toEqual([false, false, false, []]);
    });

    test("everywhere are in every namespace, too", () => {
        login(["view", "operate"], {});
        expect([may("operate"), may("operate", "a/b"), may("edit", "a/b"), mayIn("operate")]).toEqual([true, true, false, []]);
    });

    test.each<[string, boolean]>([
        ["billing/close-day", true],
        ["billing/eu/close-day", true],
        ["billing", false],
        ["billing-old/close-day", false],
        ["other/billing/close-day", false],
        ["", false],
    ])("in a namespace are over what is in it: %s", (job, want) => {
        login(["view"], { billing: ["view", "operate", "edit"] });
        expect(may("edit", job)).toBe(want);
    });

    test("in a namespace are some somewhere", () => {
        login([], { a: ["view"], b: ["view", "edit"] });
        expect([may("edit"), maySomewhere("edit"), maySomewhere("define")]).toEqual([false, true, false]);
        expect([mayIn("view"), mayIn("edit")]).toEqual([["a", "b"], ["b"]]);
    });
});
