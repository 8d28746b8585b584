import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("a run", () => {
    test("shows what it did, and its output in colours", async () => {
        const { world } = holder;
        const id = await world.run("colours", true);
        const page = await world.page();
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: "bold green" }).waitFor();
        expect(await page.locator(".fg-1").first().innerText()).toBe("red");
        expect(await page.locator(".fg-3").allInnerTexts()).toEqual(["warning: disk is at 91%", "  and still yellow on the next line"]);
        expect(await page.locator(".is-stderr").innerText()).toContain("something went wrong");
        expect(await page.locator(".facts").innerText()).toMatch(/code 0/);
        await page.context().close();
    });

    test("is followed while it runs, and killed", async () => {
        const { world } = holder;
        const id = await world.run("long");
        const page = await world.page();
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: /step 1\d\d of/ }).first().waitFor(); // more than fits: it follows
        await page.getByRole("log").focus();
        await page.keyboard.press("Home");
        await page.locator(".log-row", { hasText: "step 1 of" }).waitFor();
        expect(await page.getByRole("button", { name: "Follow" }).getAttribute("aria-pressed")).toBe("false");
        await page.getByRole("button", { name: "Kill" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Kill" }).click();
        await page.locator(".status-big", { hasText: "Killed" }).waitFor();
        await page.getByText("a user stopped the run").waitFor();
        await page.getByRole("button", { name: "Run again" }).click();
        await page.locator(".status-big", { hasText: "Running" }).waitFor();
        expect(page.url()).not.toContain(id);
        await page.context().close();
    });

    test("has an output that goes on after the stream broke", async () => {
        const { world } = holder;
        const id = await world.run("long");
        const wire = await world.wire();
        const page = await world.page({ baseURL: wire.url });
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: "step" }).first().waitFor();
        wire.cut();
        await page.locator(".live-offline").waitFor();
        wire.mend();
        await page.locator(".log-row", { hasText: "step 60 of" }).waitFor();
        await page.getByRole("log").focus();
        await page.keyboard.press("Home");
        const seen = await page.locator(".log-text").allInnerTexts();
        expect(seen.slice(0, 12).map((text) => text.trim())).toEqual(Array.from({ length: 12 }, (_, i) => `step ${i + 1} of 3000`));
        await world.agent.api("POST", `/runs/${id}/kill`);
        await page.context().close();
    });

    test("of a large output reads only what is looked at", async () => {
        const { world } = holder;
        const id = await world.run("big", true);
        const page = await world.page();
        let read = 0;
        page.on("response", async (response) => {
            if (response.url().includes("/log?")) read += (await response.body().catch(() => "")).length;
        });
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: "line 000000001" }).waitFor();
        await page.getByRole("log").focus();
        await page.keyboard.press("End");
        await page.locator(".log-row", { hasText: "line 000200000" }).waitFor();
        await page.locator(".log-scroller").evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
        await page.locator(".log-row", { hasText: /line 000(09|10)\d{4}/ }).first().waitFor();
        expect(read).toBeLessThan(2_000_000);
        expect(await page.locator(".log-row").count()).toBeLessThan(100);
        await page.context().close();
    });

    test("is searched to its end, and lines have addresses", async () => {
        const { world } = holder;
        const id = await world.run("big", true);
        const page = await world.page({ permissions: ["clipboard-read", "clipboard-write"] });
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: "line 000000001" }).waitFor();
        await page.getByRole("searchbox").fill("LINE 000123456");
        await page.keyboard.press("Enter");
        const row = page.locator(".log-row", { hasText: "line 000123456" });
        await row.locator("mark").waitFor();
        await row.locator(".log-time").click();
        await page.locator(".log-row.is-target", { hasText: "line 000123456" }).waitFor();
        const address = page.url();
        expect(address).toMatch(/at=\d+/);
        await page.goto("about:blank");
        await page.goto(address);
        await page.locator(".log-row.is-target", { hasText: "line 000123456" }).waitFor();
        await page.context().close();
    });

    test("is downloaded whole", async () => {
        const { world } = holder;
        const id = await world.run("big", true);
        const page = await world.page();
        await page.goto(`/#/runs/${id}`);
        const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()]);
        const text = readFileSync(await download.path(), "utf8");
        expect(text.split("\n").length).toBe(200_001);
        await page.context().close();
    });

    test("has its neighbours", async () => {
        const { world } = holder;
        const one = await world.run("colours", true);
        const two = await world.run("colours", true);
        const page = await world.page();
        await page.goto(`/#/runs/${one}`);
        await page.locator(`a[aria-label="Next run"][href="#/runs/${two}"]`).click();
        await page.locator(`a[aria-label="Previous run"][href="#/runs/${one}"]`).waitFor();
        await until("the address", () => page.url().includes(two));
        await page.context().close();
    });
});
