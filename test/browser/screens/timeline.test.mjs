import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("the timeline", () => {
    test("shows what ran and what comes, moves and zooms by keys, and leads to a run", async () => {
        const { world } = holder;
        await world.run("colours", true);
        const page = await world.page();
        await page.goto("/#/timeline");
        await page.locator(".mark-ok[data-href]").first().waitFor();
        expect(await page.locator(".mark-tick").count()).toBeGreaterThan(1);
        expect(await page.getByRole("img", { name: /coming ticks of \d+ jobs/ }).count()).toBe(1);
        await page.locator(".timeline-area").focus();
        await page.keyboard.press("-");
        await until("six hours", async () => page.url().includes("span=quarter"));
        await page.keyboard.press("ArrowLeft");
        await until("an earlier time", async () => page.url().includes("at="));
        await page.keyboard.press("0");
        await until("now", async () => !page.url().includes("at="));
        await page.goto("/#/timeline?job=colours");
        await page.locator(".mark-ok[data-href]").first().click();
        await page.getByRole("heading", { name: /colours/ }).waitFor();
        await page.context().close();
    });

    test("is a table, too", async () => {
        const page = await holder.world.page();
        await page.goto("/#/timeline");
        await page.getByText("Table", { exact: true }).click();
        await page.getByRole("row", { name: /Upcoming clock/ }).first().waitFor();
        expect(await page.locator("th").allInnerTexts()).toContain("Job");
        await page.context().close();
    });

    test("warns of a second in which many jobs start", async () => {
        const { world } = holder;
        const put = [1, 2, 3, 4, 5].map((n) => ({ name: `herd/${n}`, schedule: "0 * * * *", timezone: "UTC", command: ["true"] }));
        await world.agent.api("POST", "/jobs:batch", { put });
        const page = await world.page();
        await page.goto("/#/timeline?span=quarter");
        await page.getByText("compete for the machine").waitFor();
        await page.getByRole("link", { name: "herd/1" }).last().click();
        await page.getByRole("heading", { name: "Edit herd/1" }).waitFor();
        await page.context().close();
    });
});
