// What keeps jobs from running, made for real: a job that no node may run, a clock that is not
// trusted, a spool that is full. The overview says the cause, since when and what to do, and stops
// saying it when it is over.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeClock } from "../support/clock.mjs";
import { makePostgres } from "../support/postgres.mjs";
import { startWorld, until } from "../support/world.mjs";

let clock;
let postgres;
let world;
let page;

beforeAll(async () => {
    clock = makeClock();
    postgres = await makePostgres();
    const history = postgres ? ["--history", postgres.history] : [];
    const env = { ...clock?.env, PEAL_HISTORY_SPOOL: "1MiB" };
    world = await startWorld({ jobs: [{ name: "often", schedule: "* * * * * *", command: ["true"] }], agent: ["--label", "zone=eu", ...history], env });
    page = await world.page();
    await page.goto("/");
});

afterAll(async () => {
    expect(world?.problems ?? []).toEqual([]);
    await world?.stop();
    postgres?.stop();
    clock?.remove();
});

const alarm = (text) => page.getByRole("alert").filter({ hasText: text });
const cluster = async () => (await world.agent.api("GET", "/cluster")).body;
const isRecent = (at) => Math.abs(Date.now() - Date.parse(at)) < 120_000;

// As a browser that prefers the other language shows it.
async function inChinese(text) {
    const context = await world.context({ locale: "zh-CN" });
    const other = await context.newPage();
    await other.goto("/");
    await other.getByRole("alert").filter({ hasText: text }).waitFor();
    await context.close();
}

describe("a job that no node may run", () => {
    const definition = { schedule: "@manual", command: ["true"], where: "zone=eu,gpu" };
    const words = "no node that takes runs has the labels of its where: zone=eu,gpu; none has gpu";

    test("has a warning, with the label and since when, and loses it", async () => {
        await world.agent.api("PUT", "/jobs/render", definition);
        const row = page.locator(".panel", { has: page.getByRole("heading", { name: "Needs attention" }) }).getByRole("listitem").filter({ hasText: "render" });
        await row.getByText(words).waitFor();
        expect(await row.innerText()).toMatch(/Warning[^]*\(since .*\d:\d\d/);
        expect(await row.locator(".tone-bad").count()).toBe(0);
        const { status } = (await world.agent.api("GET", "/jobs/render")).body;
        expect(status.problem).toBe(null);
        expect(status.warning.reason).toBe("no_node");
        expect(isRecent(status.warning.since)).toBe(true);
        await row.getByRole("link", { name: "render" }).click();
        await page.locator(".note.warn").getByText(words).waitFor();
        await page.goto("/#/jobs?status=warning");
        await page.getByRole("row", { name: /Warning.*render/ }).getByText(words).waitFor();
        expect(await page.locator("tbody tr").count()).toBe(1);
        await page.goto("/#/");
        await row.waitFor();
        await world.agent.api("PUT", "/jobs/render", { ...definition, where: "zone=eu" });
        await row.waitFor({ state: "detached" });
    });
});

describe("a clock that is not trusted", () => {
    test("is on the overview, and leaves it", async (context) => {
        if (!clock) context.skip();
        clock.set(3600);
        const told = alarm("The clock of this node is not trusted: it jumped ahead");
        await told.waitFor();
        expect(await told.innerText()).toMatch(/\(by 1 h.*\)\. No run starts here\. Since .*\d:\d\d.*\. Correct the clock .*Else it is trusted in \d+ (m|s)/);
        expect(isRecent((await cluster()).clock.since)).toBe(true); // by the clock that was right
        await inChinese(/本节点的时钟不可信：时钟突然前跳.*自 .* 起。请校正时钟/);
        const { status } = (await world.agent.api("GET", "/jobs/often")).body;
        expect([status.problem, status.warning.reason]).toEqual([null, "clock"]);
        clock.set(0);
        await told.waitFor({ state: "detached" });
        await until("trust", async () => (await cluster()).clock.ok);
        expect((await cluster()).clock.since).toBe(null);
        await page.reload(); // who watched has not been logged out
        await page.getByRole("heading", { name: "Overview" }).waitFor();
    });
});

describe("a spool that is full", () => {
    test("is on the overview, and leaves it", async (context) => {
        if (!postgres) context.skip();
        await alarm(/History problem: .*refused.*Since /).waitFor();
        await inChinese(/历史异常：.*PostgreSQL 不可用：.*自 .* 起。/);
        // The versions of a job wait there, too, until no more fit.
        const notes = "All work and no play. ".repeat(2000);
        await until("a full spool", async () => {
            for (let i = 0; i < 10; i++) await world.agent.api("PUT", "/jobs/large", { schedule: "@manual", command: ["true"], notes: `${notes}${Math.random()}` });
            return (await cluster()).history.spool.state === "full";
        });
        const full = alarm("The spool is full");
        await full.waitFor();
        expect(await full.innerText()).toMatch(/\d+ results \(.* KiB\) wait on this node's disk.*Since .*\d:\d\d.*\. Make the history reachable again/);
        expect(isRecent((await cluster()).history.spool.since)).toBe(true);
        await inChinese(/暂存区已满：\d+ 条结果.*自 .* 起。请恢复历史数据库/);
        postgres.start();
        await full.waitFor({ state: "detached" });
        await alarm("History problem").waitFor({ state: "detached" });
        await until("all records", async () => (await cluster()).history.spool.records === 0);
        expect(await page.getByRole("alert").count()).toBe(0);
    });
});
