import { describe, expect, test } from "vitest";
import { href, matchPath, parseHash } from "@console/app/router";
import { chooseLanguage, preferredLanguage } from "@console/i18n/language";
import { fill, packed, type Words } from "@console/i18n/words";
import { axisOf, countRows, emptyDays, levelOf, pointsOf, quantile } from "@console/screens/job/figures";
import { askFor, readFilters } from "@console/screens/runs/filters";
import { noteText } from "@console/ui/moments";
import { bytesText, formatRough, formatSpan, fullTime, shortTime, unitsOf } from "@console/ui/time";
import type { Entry, Run } from "@console/api/types";

describe("words", () => {
    const modules = import.meta.glob<{ t: Words<string> }>(["../../../web/src/i18n/common.ts", "../../../web/src/screens/*/words.ts"], {
        eager: true,
    });
    const holes = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "").sort();

    test("are the same as the build packs them", () => {
        const t = packed("a|n|n#one", "a {x}|{n} runs|1 run", "甲 {x}|{n} 次|");
        expect([t("a", { x: 1 }), t("n", { n: 2 }), t("n", { n: 1 }), t("none"), t.has("n"), t.has("none")]).toEqual(["a 1", "2 runs", "1 run", "none", true, false]);
        chooseLanguage("zh");
        expect([t("a", { x: 1 }), t("n", { n: 1 })]).toEqual(["甲 1", "1 次"]);
        chooseLanguage("en");
    });

    test("there are some", () => expect(Object.keys(modules).length).toBeGreaterThan(4));

    test.each(Object.entries(modules))("%s has the same keys and places to fill in both languages", (_file, { t }) => {
        const { en, zh } = t.all;
        for (const [key, text] of Object.entries(en)) {
            if (key.endsWith("#one")) continue;
            expect(zh[key], key).toBeTruthy();
            expect(holes(zh[key] ?? ""), key).toEqual(holes(text));
        }
        expect(Object.keys(zh).filter((key) => !(key in en))).toEqual([]);
    });

    test("places are filled", () => {
        expect(fill("{n} of {m}, {x}", { n: 1, m: "two" })).toBe("1 of two, {x}");
    });

    test.each<[string | null, string[], string]>([
        ["zh", ["en"], "zh"],
        [null, ["zh-CN", "en"], "zh"],
        [null, ["de", "en-GB", "zh"], "en"],
        [null, ["de"], "en"],
        ["xx", ["zh-TW"], "zh"],
    ])("stored %s, wanted %j: %s", (stored, wanted, want) => {
        expect(preferredLanguage(stored, wanted)).toBe(want);
    });
});

describe("addresses", () => {
    test.each([
        ["/jobs/:name", "/jobs/db%2Fbackup", { name: "db/backup" }],
        ["/jobs/:name", "/jobs", null],
        ["/jobs/:name", "/jobs/", null],
        ["/jobs/:name", "/jobs/a/b", null],
        ["/jobs/:name", "/jobs/%", null],
        ["/runs", "/runs", {}],
    ])("%s and %s", (pattern, path, want) => {
        expect(matchPath(pattern, path)).toEqual(want);
    });

    test("there and back", () => {
        const { path, query } = parseHash(href("/runs", { q: "a b&c", state: null, job: "x/y" }));
        expect([path, query.get("q"), query.get("job"), query.has("state")]).toEqual(["/runs", "a b&c", "x/y", false]);
        expect(parseHash("").path).toBe("/");
    });
});

describe("times", () => {
    const at = Date.parse("2026-11-15T08:46:11.123Z");

    test("have their zone", () => {
        expect(fullTime(at, "UTC")).toBe("2026-11-15 08:46:11.123 UTC");
        expect(fullTime(at, "Asia/Shanghai")).toBe("2026-11-15 16:46:11.123 GMT+8");
    });

    test("are short on the same day", () => {
        expect(shortTime(at, "UTC", at + 3_600_000)).toBe("08:46:11");
        expect(shortTime(at, "UTC", at + 86_400_000)).toBe("11-15 08:46");
        expect(shortTime(at, "UTC", at + 100 * 86_400_000)).toBe("2026-11-15 08:46");
    });

    test.each([
        [0, "0 ms", "0 s"],
        [999, "999 ms", "0 s"],
        [9_999, "9.9 s", "9 s"],
        [59_999, "59 s", "59 s"],
        [185_000, "3 m 05 s", "3 m 05 s"],
        [1_805_000, "30 m 05 s", "30 m"],
        [7_620_000, "2 h 07 m", "2 h 07 m"],
        [273_600_000, "3 d 4 h", "3 d"],
        [-5, "0 ms", "0 s"],
    ])("%d ms", (ms, exact, rough) => {
        expect([formatSpan(ms, unitsOf.en), formatRough(ms, unitsOf.en)]).toEqual([exact, rough]);
    });

    test("bytes", () => {
        expect([bytesText(0), bytesText(1023), bytesText(1536), bytesText(104_857_600)]).toEqual(["0 B", "1023 B", "1.5 KiB", "100 MiB"]);
    });
});

describe("filters of runs", () => {
    const now = Date.parse("2026-11-15T08:46:11Z");
    test("the last day unless told", () => {
        expect(askFor(readFilters(new URLSearchParams()), now)["since"]).toBe("2026-11-14T08:46:00.000Z");
        expect(askFor(readFilters(new URLSearchParams("time=all")), now)["since"]).toBeNull();
        expect(askFor(readFilters(new URLSearchParams("time=nonsense")), now)["since"]).toBe("2026-11-14T08:46:00.000Z");
    });
    test("ticks that did not run are in the ledger", () => {
        expect(askFor(readFilters(new URLSearchParams("state=skipped")), now)["ledger"]).toBe(true);
        expect(askFor(readFilters(new URLSearchParams("state=ok")), now)["ledger"]).toBeNull();
    });
});

describe("what is special about a tick", () => {
    test("is said in the language of the screen", () => {
        chooseLanguage("zh");
        expect(noteText("moved: 02:30 does not exist on this day; left out: skip-next")).toBe("已顺移：这一天没有 02:30; 按要求跳过");
        expect(noteText("second of two: 01:30:15 happens twice on this day")).toBe("两次中的第二次：这一天有两个 01:30:15");
        chooseLanguage("en");
        expect(noteText("first of two: 01:30 happens twice on this day")).toBe("first of two: 01:30 happens twice on this day");
        expect(noteText("something new")).toBe("something new");
    });
});

describe("figures", () => {
    const run = (state: string, started: string, ms: number): Run =>
        ({
            run_id: started,
            state,
            tick: started,
            started_at: started,
            finished_at: new Date(Date.parse(started) + ms).toISOString(),
        }) as unknown as Run;
    const rows: (Run | Entry)[] = [
        run("failed", "2026-11-15T02:00:00Z", 300),
        run("ok", "2026-11-14T23:30:00Z", 100),
        { entry_id: "e", from: "2026-11-13T00:00:00Z", to: "2026-11-13T01:00:00Z", count: 3, state: "missed" } as unknown as Entry,
    ];

    test("points are in order of time, without what did not run", () => {
        expect(pointsOf(rows).map((point) => [point.ms, point.ok])).toEqual([
            [100, true],
            [300, false],
        ]);
    });

    test("a chart of one run shows an hour", () => {
        const one = { at: 7_200_000, ms: 5, ok: true };
        expect(axisOf([one])).toEqual([5400, 9000]);
        expect(axisOf([one, { ...one, at: 7_201_000 }])).toEqual([7200, 7201]);
    });

    test("quantiles", () => {
        expect([quantile([], 0.5), quantile([3, 1, 2], 0.5), quantile([1, 2, 3, 4], 0.95)]).toEqual([0, 2, 4]);
    });

    test("days begin on a Monday, end today, and are those of the zone", () => {
        const now = Date.parse("2026-11-15T12:00:00Z");
        const days = countRows(emptyDays(2, now, "Asia/Shanghai"), rows, "Asia/Shanghai");
        expect([days[0]?.date, days[days.length - 1]?.date, days.length]).toEqual(["2026-11-02", "2026-11-15", 14]);
        expect(days.slice(-3).map((day) => [day.ok, day.bad, day.missed])).toEqual([
            [0, 0, 3],
            [0, 0, 0],
            [1, 1, 0],
        ]);
        expect(days.slice(-3).map(levelOf)).toEqual(["missed", "none", "some"]);
    });
});
