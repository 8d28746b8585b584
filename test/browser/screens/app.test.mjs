// What is around the screens: language, theme, keys, the stream of events.
import { describe, expect, test } from "vitest";
import { startWorld, until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("the console", () => {
    test("is served as it should be", async () => {
        const { world } = holder;
        const page = await fetch(`${world.url}/`);
        const html = await page.text();
        expect(page.status).toBe(200);
        expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
        expect(page.headers.get("content-security-policy")).not.toContain("unsafe");
        expect(page.headers.get("cache-control")).toBe("no-cache");
        expect(html).not.toMatch(/<script>|https?:|style=/);
        const [script] = /\/assets\/[^"]+\.js/.exec(html);
        const asset = await fetch(`${world.url}${script}`);
        expect(asset.headers.get("cache-control")).toContain("immutable");
        const again = await fetch(`${world.url}${script}`, { headers: { "If-None-Match": asset.headers.get("etag") } });
        expect(again.status).toBe(304);
        expect((await fetch(`${world.url}/assets/nothing.js`)).status).toBe(404);
    });

    test("asks no other address for anything", async () => {
        const page = await holder.world.page();
        const elsewhere = [];
        page.on("request", (request) => {
            if (!request.url().startsWith(holder.world.url) && !request.url().startsWith("data:")) elsewhere.push(request.url());
        });
        for (const address of ["#/jobs", "#/runs", "#/jobs/flaky"]) {
            await page.goto(`/${address}`);
            await page.getByRole("heading", { level: 1 }).waitFor();
        }
        expect(elsewhere).toEqual([]);
        await page.context().close();
    });

    test("speaks Chinese, and remembers it", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs");
        await page.getByRole("button", { name: "Preferences" }).click();
        await page.getByText("中文").click();
        await page.getByRole("heading", { name: "任务" }).waitFor();
        expect(await page.evaluate(() => document.documentElement.lang)).toBe("zh-CN");
        await page.reload();
        await page.getByRole("heading", { name: "任务" }).waitFor();
        await page.goto("/#/jobs/flaky");
        await page.getByText("每 5 秒").waitFor(); // the server's words
        await page.context().close();
    });

    test("has a dark theme, and remembers it", async () => {
        const page = await holder.world.page({ colorScheme: "light" });
        const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        await page.goto("/#/jobs");
        await page.getByRole("heading", { level: 1 }).waitFor();
        const light = await ground();
        await page.getByRole("button", { name: "Preferences" }).click();
        await page.getByText("Dark", { exact: true }).click();
        const dark = await ground();
        expect(dark).not.toBe(light);
        await page.reload();
        await page.getByRole("heading", { level: 1 }).waitFor();
        expect(await ground()).toBe(dark);
        await page.context().close();
    });

    test("is used without a mouse", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs");
        await page.getByRole("link", { name: "flaky" }).waitFor();
        await page.keyboard.press("Control+k");
        await page.getByRole("combobox", { name: "Jump to" }).fill("colou");
        await page.getByRole("option", { name: /colours/ }).waitFor();
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: "colours" }).waitFor();
        await page.keyboard.press("g");
        await page.keyboard.press("j");
        await page.getByRole("heading", { name: "Jobs" }).waitFor();
        await page.keyboard.press("/");
        await page.keyboard.type("flak");
        await until("one job", async () => (await page.locator("[data-row]").count()) === 1);
        await page.keyboard.press("Tab");
        await page.locator("body").evaluate((body) => body.ownerDocument.activeElement?.blur());
        await page.keyboard.press("j");
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: "flaky" }).waitFor();
        await page.keyboard.press("?");
        await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
        await page.keyboard.press("Escape");
        await page.context().close();
    });

    test("tells when the server is away, and comes back by itself", async () => {
        const { world } = holder;
        const wire = await world.wire();
        const page = await world.page({ baseURL: wire.url });
        await page.goto("/#/runs?job=colours");
        await page.locator(".live-live").waitFor();
        wire.cut();
        await page.locator(".live-offline").waitFor();
        const id = await world.run("colours", true); // while it is away
        wire.mend();
        await page.locator(".live-live").waitFor();
        await page.locator(`a[href="#/runs/${id}"]`).waitFor();
        await page.context().close();
    });

    test("has one stream for all tabs, and another tab takes over", async () => {
        const { world } = holder;
        const context = await world.context();
        let streams = 0;
        context.on("request", (request) => {
            if (request.url().includes("/api/v1/events")) streams++;
        });
        const first = await context.newPage();
        await first.goto("/#/runs?job=colours");
        await first.locator(".live-live").waitFor();
        const second = await context.newPage();
        await second.goto("/#/runs?job=colours");
        await second.locator(".live-live").waitFor();
        expect(streams).toBe(1);
        const one = await world.run("colours", true);
        await second.locator(`a[href="#/runs/${one}"]`).waitFor();
        await first.close();
        await until("the other tab to lead", () => streams === 2);
        const two = await world.run("colours", true);
        await second.locator(`a[href="#/runs/${two}"]`).waitFor();
        await context.close();
    });

    test("says since when it is old while the agent is away, and is back at once", async () => {
        const { world } = holder;
        const wire = await world.wire();
        const page = await world.page({ baseURL: wire.url });
        await page.goto("/#/jobs/flaky");
        const run = page.getByRole("button", { name: "Run now" });
        await run.waitFor();
        wire.cut();
        await page.getByRole("alert").filter({ hasText: /can't be reached\. The data shown is from \d\d:\d\d:\d\d/ }).waitFor();
        expect(await run.evaluate((button) => !!button.closest("[inert]"))).toBe(true);
        await page.locator(".live-offline").waitFor();
        wire.mend();
        const mended = Date.now();
        await page.locator(".live-live").waitFor();
        expect(Date.now() - mended).toBeLessThan(2500);
        expect(await page.locator(".away").count()).toBe(0);
        await page.context().close();
    });

    test("has search fields that follow the address", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs?q=flaky");
        const field = page.getByRole("searchbox");
        await until("the text", async () => (await field.inputValue()) === "flaky");
        await page.evaluate(() => (window.location.hash = "#/jobs?q=long"));
        await until("the other text", async () => (await field.inputValue()) === "long");
        await page.getByRole("link", { name: "long" }).waitFor();
        await field.fill("clo");
        await until("the address", () => page.url().endsWith("q=clo"));
        await page.evaluate(() => (window.location.hash = "#/jobs"));
        await until("no text", async () => (await field.inputValue()) === "");
        await page.context().close();
    });

    test("finds jobs by words, and acts on them", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/jobs");
        await page.getByRole("link", { name: "flaky" }).waitFor();
        await page.keyboard.press("Control+k");
        const field = page.getByRole("combobox", { name: "Jump to" });
        await field.fill("day bill");
        await page.getByRole("option", { name: /billing\/close-day/ }).waitFor();
        await field.fill("pause flak");
        await page.getByRole("option", { name: "Pause flaky" }).waitFor();
        await page.keyboard.press("Enter");
        await page.getByText("flaky is paused.").waitFor();
        await page.keyboard.press("Control+k");
        await field.fill("resume flaky");
        await page.getByRole("option", { name: "Resume flaky" }).click();
        await page.getByText("flaky is resumed.").waitFor();
        await page.keyboard.press("Control+k");
        await field.fill("run colou");
        await page.getByRole("option", { name: "Run colours" }).click();
        await page.getByRole("heading", { name: "colours" }).waitFor();
        await until("a title that names the run", async () => /: colours · peal$/.test(await page.title()));
        await page.context().close();
    });

    test("leads from what is not there to the list", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs/nowhere");
        await page.locator(".missing").getByRole("link", { name: "Jobs" }).click();
        await page.getByRole("link", { name: "flaky" }).waitFor();
        await page.context().close();
    });
});

// Events carry what changed: who only looks asks next to nothing.
test("a screen on which nothing happens asks less than once a second", async () => {
    const jobs = ["one", "two"].map((name) => ({ name: `still/${name}`, schedule: "0 0 1 1 *", command: ["true"] }));
    const world = await startWorld({ jobs });
    const id = await world.run("still/one", true);
    const screens = ["/", "/jobs", "/jobs/still%2Fone", `/runs/${id}`, "/runs", "/timeline", "/nodes", "/alerts", "/calendars"];
    const seconds = 10;
    const open = async (screen) => {
        const page = await world.page();
        let asked = [];
        page.on("request", (request) => asked.push(new URL(request.url()).pathname));
        await page.goto(`/#${screen}`);
        await until("all that it needs", async () => {
            const before = asked.length;
            await page.waitForTimeout(2000);
            return before > 0 && asked.length - before <= 2;
        });
        asked = [];
        await page.waitForTimeout(1000 * seconds);
        await page.context().close();
        return { screen, asked };
    };
    const seen = await Promise.all(screens.map(open));
    await world.stop();
    expect(seen.filter(({ asked }) => asked.length > seconds)).toEqual([]);
});
