import { describe, expect, test } from "vitest";
import { collect, jobPath, withQuery } from "@console/api/client";
import { definitionOf, toYaml } from "@console/api/definition";
import { EventParser, retryDelay, type ServerEvent } from "@console/api/sse";
import type { Job, Page } from "@console/api/types";

describe("events", () => {
    const text = "retry: 2000\n\nid: 7\nevent: run\ndata: {\"a\":1}\n\n:\n\nid: 8\r\nevent: job\r\ndata: x\r\ndata: y\r\n\r\n";
    const want: ServerEvent[] = [
        { id: "7", event: "run", data: '{"a":1}' },
        { id: "8", event: "job", data: "x\ny" },
    ];

    test.each([1, 2, 3, 7, 1000])("in pieces of %d", (size) => {
        const parser = new EventParser();
        const got: ServerEvent[] = [];
        for (let at = 0; at < text.length; at += size) got.push(...parser.feed(text.slice(at, at + size)));
        expect(got).toEqual(want);
    });

    test("an event that is not whole is not told", () => {
        expect(new EventParser().feed("event: run\ndata: {}\n")).toEqual([]);
    });

    test("waits grow, and end", () => {
        expect([retryDelay(0, 1), retryDelay(1, 1), retryDelay(3, 1), retryDelay(50, 1)]).toEqual([500, 1000, 1800, 1800]);
        expect(retryDelay(3, 0)).toBe(900);
    });
});

describe("pages", () => {
    // Short and empty pages that are not the last.
    const pages: Record<string, Page<number>> = {
        start: { items: [1, 2], next: "a" },
        a: { items: [], next: "b" },
        b: { items: [3], next: "c" },
        c: { items: [4, 5], next: null },
    };
    const fetchPage = (cursor: string | null): Promise<Page<number>> => Promise.resolve(pages[cursor ?? "start"] as Page<number>);

    test.each([
        [1, [1, 2], "a"],
        [3, [1, 2, 3], "c"],
        [100, [1, 2, 3, 4, 5], null],
    ])("until %d are there", async (wanted, items, next) => {
        expect(await collect(fetchPage, wanted)).toEqual({ items, next });
    });

    test("a list of empty pages ends", async () => {
        const empty = await collect(() => Promise.resolve({ items: [], next: "on" }), 10);
        expect(empty).toEqual({ items: [], next: "on" });
    });

    test("tells once of each node that could not be asked", async () => {
        const away = { node: "b", why: "is away" };
        const pages = [
            { items: [1], next: "x", incomplete: [away] },
            { items: [2], next: null, incomplete: [away, { node: "c", why: "did not answer in time" }] },
        ];
        const all = await collect(() => Promise.resolve(pages.shift() ?? { items: [], next: null }), 10);
        expect(all.incomplete?.map((absence) => absence.node)).toEqual(["b", "c"]);
    });
});

test("paths and queries", () => {
    expect(jobPath("db/backup", "/run")).toBe("/jobs/db%2Fbackup/run");
    expect(withQuery("/runs", { job: "a b", state: "", limit: 5, cursor: null, ledger: true })).toBe("/runs?job=a+b&limit=5&ledger=true");
});

describe("definitions as YAML", () => {
    test.each<[unknown, string]>([
        [{ name: "backup", schedule: "30 2 * * *" }, 'name: backup\nschedule: "30 2 * * *"'],
        [{ schedule: "*/5 * * * *" }, 'schedule: "*/5 * * * *"'],
        [{ schedule: "@daily" }, 'schedule: "@daily"'],
        [{ v: "on", n: "123", e: "", d: "2027-01-01" }, 'v: "on"\nn: "123"\ne: ""\nd: "2027-01-01"'],
        [{ command: ["rm", "-rf", "a, b"] }, 'command: [rm, "-rf", "a, b"]'],
        [{ labels: { team: "db", tier: "1" } }, 'labels:\n  team: db\n  tier: "1"'],
        [{ shell: "a\nb\n" }, "shell: |\n  a\n  b"],
        [{ shell: "a\nb" }, "shell: |-\n  a\n  b"],
        [{ timeout: "2h", size: "10MiB", hex: "0x1F", time: "12:30", e: "1e3" }, 'timeout: 2h\nsize: 10MiB\nhex: "0x1F"\ntime: "12:30"\ne: "1e3"'],
        [{ overlap: { policy: "queue", queue: 3 } }, "overlap:\n  policy: queue\n  queue: 3"],
        [{ paused: true, labels: {}, list: [] }, "paused: true\nlabels: {}\nlist: []"],
        [{ x: "a: b", y: "a #b", z: "'q'" }, 'x: "a: b"\ny: "a #b"\nz: "\'q\'"'],
    ])("%j", (value, want) => {
        expect(toYaml(value)).toBe(want);
    });

    test("what the server adds is left out", () => {
        const job = { name: "a", uid: "u", revision: 3, status: {}, created_at: "", updated_at: "", shell: "x" };
        expect(definitionOf(job as unknown as Job)).toEqual({ name: "a", shell: "x" });
    });
});
