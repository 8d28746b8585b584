import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("the overview", () => {
    test("is where one starts; it shows what failed, what runs and what comes", async () => {
        const { world } = holder;
        await world.agent.api("PUT", "/jobs/unlucky", { schedule: "@manual", shell: "exit 3" });
        await world.run("unlucky", true);
        await world.run("long");
        const page = await world.page();
        await page.goto("/");
        const panel = (name) => page.locator(".panel", { has: page.getByRole("heading", { name }) });
        const failed = panel("Needs attention").getByRole("listitem").filter({ hasText: "unlucky" });
        await failed.waitFor();
        expect(await failed.innerText()).toContain("Failed");
        await panel("Running now").getByRole("link", { name: "long" }).waitFor();
        await panel("Coming next").getByRole("link", { name: "clock" }).waitFor();
        await until("the figures", async () => /Success\s+[\d.]+ %/.test(await panel("Last 24 hours").innerText()));
        await page.context().close();
    });

    test("teaches those who have no job yet", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.route("**/api/v1/cluster", async (route) => {
            const answer = await route.fetch();
            await route.fulfill({ response: answer, json: { ...(await answer.json()), jobs: 0 } });
        });
        await page.goto("/");
        await page.getByText("peal import crontab").waitFor();
        await page.locator(".empty").getByRole("link", { name: "New job" }).click();
        await page.getByRole("heading", { name: "New job" }).waitFor();
        await page.context().close();
    });
});
