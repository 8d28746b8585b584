// 100,000 jobs, and an output of 100 MB: what is shown costs no more than what is looked at.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gauge } from "../support/gauge.mjs";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const MB = 1_000_000;
const LINES = 1_700_000;
const LINE = "line 000000001 of the huge output, with a few words more on it\n";
const JOBS = 100_000;
const TEAMS = 50;

// Before `gate` is there it prints nothing.
function output(name, lines, gate) {
    const format = LINE.trim().replace("000000001", "%09.0f");
    const wait = gate ? `until [ -e ${gate} ]; do sleep 0.1; done; ` : "";
    return { name, schedule: "@manual", shell: `${wait}seq -f '${format}' ${lines}`, output_limit: "200MiB" };
}

const gate = join(mkdtempSync(join(tmpdir(), "peal-gate-")), "open");
const holder = useWorld({ jobs: [output("huge", LINES, gate), output("small", 2000)] });

afterAll(() => rmSync(dirname(gate), { recursive: true }));

function lineText(n) {
    return `line ${String(n).padStart(9, "0")}`;
}

// The scroll bar at this part of its way.
async function dragTo(page, part) {
    await page.locator(".log-scroller").evaluate((element, to) => (element.scrollTop = (element.scrollHeight - element.clientHeight) * to), part);
}

// From top to bottom, so many places on the way.
async function drag(page, steps) {
    await page.locator(".log-scroller").evaluate(async (element, count) => {
        for (let i = 0; i <= count; i++) {
            element.scrollTop = ((element.scrollHeight - element.clientHeight) * i) / count;
            await new Promise(requestAnimationFrame);
        }
    }, steps);
}

async function firstLine(page) {
    const text = await page.locator(".log-row:not(.is-empty) .log-text").first().innerText({ timeout: 5000 }).catch(() => "");
    return Number(/line (\d+)/.exec(text)?.[1] ?? 0);
}

describe("an output of 100 MB", () => {
    let id;
    beforeAll(async () => {
        const { world } = holder;
        const started = await world.agent.api("POST", "/jobs/huge/run");
        id = started.body.run_id;
        // It is watched from its first line on, to its last.
        const page = await world.page();
        const cost = await gauge(page);
        await page.goto(`/#/runs/${id}`);
        await page.locator(".status-big").waitFor();
        writeFileSync(gate, "");
        await page.locator(".log-row", { hasText: lineText(LINES) }).waitFor({ timeout: 100_000 });
        await page.locator(".status-big", { hasText: "OK" }).waitFor();
        expect(await page.locator(".log-row").count()).toBeLessThan(100);
        expect(await cost.heap()).toBeLessThan(60 * MB);
        await page.context().close();
    });

    test("is scrolled through from end to end, and hardly any of it is read", async () => {
        const page = await holder.world.page();
        const cost = await gauge(page);
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: lineText(1) }).waitFor();
        const few = await cost.heap();
        for (const part of [0.25, 0.5, 0.75, 1]) {
            await dragTo(page, part);
            await until("its lines", async () => Math.abs((await firstLine(page)) / LINES - part) < 0.02);
        }
        await page.locator(".log-row", { hasText: lineText(LINES) }).waitFor();
        await drag(page, 100);
        await page.locator(".log-row", { hasText: lineText(LINES) }).waitFor();
        expect(cost.bytes()).toBeLessThan(20 * MB);
        expect(cost.calls("/runs/").length).toBeLessThan(250);
        expect(await page.locator(".log-row").count()).toBeLessThan(100);
        expect(await cost.elements()).toBeLessThan(1000);
        expect((await cost.heap()) - few).toBeLessThan(30 * MB);
        await page.context().close();
    });

    test("costs no more to move in than one of a few lines", async () => {
        const page = await holder.world.page();
        const cost = await gauge(page);
        const wheel = async (run, first) => {
            await page.goto(`/#/runs/${run}`);
            await page.locator(".log-row", { hasText: lineText(first) }).waitFor();
            await page.locator(".log-scroller").hover();
            const before = await cost.busy();
            for (let i = 0; i < 60; i++) {
                await page.mouse.wheel(0, 120);
                await page.evaluate(() => new Promise(requestAnimationFrame));
            }
            const line = await firstLine(page);
            expect(line).toBeGreaterThan(first + 60);
            expect(line).toBeLessThan(first + 2000);
            return (await cost.busy()) - before;
        };
        const small = await wheel(await holder.world.run("small", true), 1);
        expect(await wheel(id, 1)).toBeLessThan(4 * small);
        await page.context().close();
    });

    test("is searched to its end without being kept, and a line's address leads into its middle", async () => {
        const page = await holder.world.page();
        const cost = await gauge(page);
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: lineText(1) }).waitFor();
        const few = await cost.heap();
        await page.getByRole("searchbox").fill(lineText(LINES - 3));
        await page.keyboard.press("Enter");
        await page.locator(".log-row", { hasText: lineText(LINES - 3) }).locator("mark").waitFor({ timeout: 100_000 });
        expect((await cost.heap()) - few).toBeLessThan(30 * MB);
        const at = (LINES / 2) * LINE.length;
        cost.reset();
        await page.goto("about:blank");
        await page.goto(`/#/runs/${id}?at=${at}`);
        await page.locator(".log-row.is-target", { hasText: lineText(LINES / 2 + 1) }).waitFor();
        expect(cost.bytes()).toBeLessThan(2 * MB);
        await page.context().close();
    });

    test("is downloaded whole", async () => {
        const page = await holder.world.page();
        await page.goto(`/#/runs/${id}`);
        const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()]);
        expect(statSync(await download.path()).size).toBe(LINES * LINE.length);
        await page.context().close();
    });
});

function jobAt(n) {
    const team = `team-${n % TEAMS}`;
    return {
        name: `${team}/job-${String(n).padStart(6, "0")}`,
        schedule: `${n % 60} ${n % 24} * * *`,
        timezone: "UTC",
        command: ["true"],
        labels: { team },
        owner: `${team}@example.org`,
    };
}

async function countPaused(agent) {
    let count = 0;
    let cursor = "";
    do {
        const { body } = await agent.api("GET", `/jobs?status=paused&limit=1000${cursor}`);
        count += body.items.length;
        cursor = body.next ? `&cursor=${encodeURIComponent(body.next)}` : null;
    } while (cursor);
    return count;
}

describe("100,000 jobs", () => {
    beforeAll(async () => {
        for (let n = 0; n < JOBS; n += 2000) {
            const put = Array.from({ length: 2000 }, (_, i) => jobAt(n + i));
            const answer = await holder.world.agent.api("POST", "/jobs:batch", { put });
            expect(answer.status).toBe(200);
        }
    }, 400_000);

    test("are a list that comes by pages, searched and sorted by the server", async () => {
        const page = await holder.world.page();
        const cost = await gauge(page);
        await page.goto("/#/jobs");
        await page.getByRole("link", { name: "team-0/job-000000" }).waitFor();
        expect(await page.locator("[data-row]").count()).toBe(50);
        expect(cost.bytes()).toBeLessThan(MB);
        expect(cost.calls("/jobs").length).toBeLessThan(8);
        cost.reset();
        await page.getByRole("searchbox").pressSequentially("job-09999", { delay: 30 });
        await until("those that fit", async () => (await page.locator("[data-row]").count()) === 10);
        expect(cost.calls("/jobs?").length).toBeLessThan(60); // five look through all
        await page.getByRole("button", { name: "Clear filters" }).click();
        await page.getByRole("button", { name: "Next run" }).click();
        await until("another order", async () => (await page.locator("[data-row]").first().innerText()) !== "team-0/job-000000");
        await page.goto("/#/jobs?label=team%3Dteam-7");
        await until("one team", async () => (await page.locator("[data-row]").allInnerTexts()).every((name) => name.startsWith("team-7/")));
        expect(await cost.elements()).toBeLessThan(5000);
        await page.context().close();
    });

    test("do not pile up on the page of somebody who scrolls", async () => {
        const page = await holder.world.page();
        const cost = await gauge(page);
        await page.goto("/#/jobs");
        await page.getByRole("link", { name: "team-0/job-000000" }).waitFor();
        const rows = () => page.locator("[data-row]").count();
        for (let count = await rows(), more = true; more; ) {
            await page.locator(".main").evaluate((element) => element.scrollTo(0, element.scrollHeight));
            more = await until("more rows", async () => (await rows()) > count, 5).catch(() => false);
            count = await rows();
        }
        expect(await rows()).toBeLessThan(500);
        expect(await cost.elements()).toBeLessThan(25_000);
        await page.getByRole("button", { name: "Show more" }).click(); // who wants more may have more
        await page.context().close();
    });

    test("are touched together only after a look at which", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/jobs?q=job-0123");
        await until("those that fit", async () => (await page.locator("[data-row]").count()) >= 50);
        const count = await page.locator("[data-row]").count();
        await page.getByLabel("Select all").check();
        await page.getByRole("toolbar").getByRole("button", { name: "Pause" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByText(`Pause ${count} jobs?`).waitFor();
        expect(await dialog.getByRole("listitem").count()).toBe(count);
        await dialog.getByRole("button", { name: "Pause" }).click();
        await until("all to be paused", async () => (await countPaused(world.agent)) === count);
        await page.context().close();
    });

    test("are found by Ctrl-K", async () => {
        const page = await holder.world.page();
        const cost = await gauge(page);
        await page.goto("/#/");
        await page.getByRole("heading", { name: "Overview" }).waitFor();
        cost.reset();
        await page.keyboard.press("Control+k");
        await page.keyboard.type("job-077777", { delay: 30 });
        await page.getByRole("option", { name: "job-077777" }).waitFor();
        expect(await page.getByRole("option").count()).toBeLessThan(30);
        expect(cost.calls("/jobs?").length).toBeLessThan(40); // five look through all
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: "team-27/job-077777" }).waitFor();
        await page.context().close();
    });
});
