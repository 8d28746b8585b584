import { afterEach, describe, expect, test, vi } from "vitest";
import { doAll, nothingYet, type Acted, type Progress, type Wanted } from "@console/screens/jobs/match";

const wanted: Wanted = { what: "pause", filter: { q: "web", status: "", label: "", owner: "", node: "" } };

function page(touched: number, left: number, next: string | null): Acted {
    return { matched: touched + left, touched, runs: 0, names: [], left: [{ reason: "paused", message: "", count: left }], failed: [], next };
}

// Answers one page after another; an Error is a connection that breaks. What was asked is kept.
function serve(answers: (Acted | Error)[]): { url: string; key: string | null; cursor: unknown }[] {
    const asked: { url: string; key: string | null; cursor: unknown }[] = [];
    vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
        asked.push({ url, key: new Headers(init.headers).get("Idempotency-Key"), cursor: JSON.parse(String(init.body)).cursor });
        const answer = answers.shift();
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(new Response(JSON.stringify(answer)));
    });
    return asked;
}

describe("all jobs that match", () => {
    afterEach(() => vi.unstubAllGlobals());

    test("are done page by page, and counted", async () => {
        const asked = serve([page(200, 3, "a"), page(200, 0, "b"), page(17, 1, null)]);
        let last: Progress | null = null;
        await doAll(wanted, nothingYet(), (at) => !!(last = at));
        expect(last).toMatchObject({ touched: 417, isOver: true, left: [{ reason: "paused", count: 4 }] });
        expect(asked.map((one) => one.cursor)).toEqual([undefined, "a", "b"]);
        expect(new Set(asked.map((one) => one.key)).size).toBe(3);
        expect(asked[0]?.url).toBe("/api/v1/jobs:act?q=web");
    });

    test("go on where they were stopped, and repeat a page that got no answer under its key", async () => {
        const asked = serve([page(200, 0, "a"), new Error("it broke"), page(5, 0, null)]);
        let at = nothingYet();
        const keep = (goesOn: boolean) => (next: Progress) => {
            at = next;
            return goesOn;
        };
        await doAll(wanted, at, keep(false));
        expect([at.touched, at.isOver, asked.length]).toEqual([200, false, 1]);
        await expect(doAll(wanted, at, keep(true))).rejects.toThrow();
        await doAll(wanted, at, keep(true));
        expect([at.touched, at.isOver]).toEqual([205, true]);
        expect(asked[1]).toEqual(asked[2]);
    });
});
