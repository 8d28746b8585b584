import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("runs", () => {
    test("are listed, newest first, with the zone of their times, and come by themselves", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/runs");
        await page.locator(".live-live").waitFor();
        const id = await world.run("colours", true);
        await page.locator(`a[href="#/runs/${id}"]`).waitFor();
        expect(await page.getByRole("columnheader", { name: /Due/ }).innerText()).toMatch(/CET|GMT\+1/);
        await page.context().close();
    });

    test("are filtered, and the address says so", async () => {
        const { world } = holder;
        await world.run("colours", true);
        const page = await world.page();
        await page.goto("/#/runs");
        await page.getByRole("searchbox").fill("colours");
        await until("only those", async () => {
            const names = await page.locator("[data-row]").allInnerTexts();
            return names.length > 0 && names.every((name) => name === "colours");
        });
        await page.getByLabel("State", { exact: true }).selectOption("failed");
        await page.getByText("No runs found.").waitFor();
        await until("the address has both", () =>
            /q=colours.*state=failed|state=failed.*q=colours/.test(page.url()));
        await page.goto("/#/runs?state=ok&job=colours&time=7d");
        await page.getByRole("button", { name: "Job colours" }).click();
        expect(page.url()).not.toContain("job=");
        await page.context().close();
    });

    test("ticks that did not run are there on demand", async () => {
        const { world } = holder;
        await world.agent.api("POST", "/jobs/clock/skip-next", { count: 1 });
        const page = await world.page();
        await page.goto("/#/runs?job=clock");
        await page.getByLabel("Include ticks that did not run").check();
        await page.getByText("a user asked to skip this tick").first().waitFor();
        await page.context().close();
    });
});
