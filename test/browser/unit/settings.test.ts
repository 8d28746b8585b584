import { describe, expect, test } from "vitest";
import { formatGrants, parseGrants } from "@console/screens/settings/scope";

describe("roles in namespaces", () => {
    test("are written one a line", () => {
        expect(parseGrants(" team = operator \n\nteam/db=viewer")).toEqual([
            { namespace: "team", role: "operator" },
            { namespace: "team/db", role: "viewer" },
        ]);
        expect(formatGrants(parseGrants("a=viewer\nb=editor"))).toBe("a=viewer\nb=editor");
    });

    test("do not give back the right to define that was taken", () => {
        const before = [{ namespace: "team", role: "editor", define: false }];
        expect(parseGrants("team=editor", before)).toEqual(before);
        expect(parseGrants("team=viewer", before)).toEqual([{ namespace: "team", role: "viewer" }]);
        expect(parseGrants("", before)).toEqual([]);
    });

    test("a line that says no role is left for the server to refuse", () => {
        expect(parseGrants("team")).toEqual([{ namespace: "team", role: "" }]);
    });
});
