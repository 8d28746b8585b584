import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("nodes", () => {
    test("are drained after a question, and undrained", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/nodes");
        const row = page.getByRole("row", { name: /this server/ });
        await row.getByText("Ready").waitFor();
        expect(await row.innerText()).toContain("leader");
        await world.run("long");
        await row.getByText(/^1$/).waitFor(); // as it is, also if nobody else had to be told
        await row.getByRole("button", { name: "Drain" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByText("No other node is ready").waitFor();
        const isDrained = async () => (await world.agent.api("GET", "/nodes")).body.items[0].drained;
        expect(await isDrained()).toBe(false);
        await dialog.getByRole("button", { name: "Drain" }).click();
        await until("it to be drained", isDrained);
        await row.getByText(/Drain(ed|ing)/).first().waitFor();
        await row.getByRole("button", { name: "Undrain" }).click();
        await until("it to take runs again", async () => !(await isDrained()));
        await row.getByText("Ready").waitFor();
        await page.context().close();
    });

    test("tell how fast the store answers, and where the runs of a day went", async () => {
        const { world } = holder;
        await world.run("colours", true);
        const page = await world.page();
        await page.goto("/#/nodes");
        await page.getByText(/Half of \d+ requests within .*, 99 % within/).waitFor();
        await page.getByText(/A read from here: \d/).waitFor();
        const day = page.locator(".panel", { has: page.getByRole("heading", { name: "Runs of the last 24 hours" }) });
        await day.getByRole("img", { name: /\d+ runs?, \d+ of them not ok/ }).waitFor();
        await until("a line of samples", async () => (await page.locator(".load-lines").count()) > 0 || (await page.getByText("CPU wait").count()) === 0, 30);
        await page.context().close();
    });
});
