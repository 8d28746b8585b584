import { describe, expect, test } from "vitest";
import { formatGrants, parseGrants } from "@console/screens/settings/scope";
import { fromTexts, toTexts } from "@console/screens/settings/channel";

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

describe("channels", () => {
    test("what the form shows is what it sends, secrets as asterisks too", () => {
        const mail = {
            name: "mail",
            revision: 3,
            type: "mail",
            url: "smtp://mail.example.com",
            from: "peal@example.com",
            to: ["a@example.com", "b@example.com"],
            user: "peal",
            password: "********",
            on: ["failure", "late"],
            default: true,
            language: "zh",
            quiet: "10m",
        };
        const { name: _name, revision: _revision, ...fields } = mail;
        expect(fromTexts(toTexts(mail))).toEqual(fields);
        const hook = { name: "h", revision: 1, type: "webhook", url: "https://h/?********", headers: { "X-A": "b=c" }, secret: "********" };
        expect(fromTexts(toTexts(hook))).toMatchObject({ type: "webhook", url: hook.url, headers: hook.headers, secret: "********" });
    });

    test("a field of another type is left out", () => {
        const sent = fromTexts({ ...toTexts(null), type: "slack", url: "https://s", secret: "x", from: "a@b" });
        expect(sent).toEqual({ type: "slack", url: "https://s", language: "en", on: ["failure", "lost", "recovery"] });
    });
});
