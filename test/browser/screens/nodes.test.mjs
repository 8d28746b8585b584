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
        await page.getByText(/p50 .*, p99 .*, \d+ requests/).waitFor();
        await page.getByText(/Read from this browser: \d/).waitFor();
        const day = page.locator(".panel", { has: page.getByRole("heading", { name: "Runs of the last 24 hours" }) });
        await day.getByRole("img", { name: /\d+ runs?, \d+ of them not OK/ }).waitFor();
        await page.context().close();
    });

    test("have a page with their load of the last hours, which a reload keeps", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/nodes");
        await page.locator(".load-lines").waitFor({ timeout: 60_000 });
        await page.locator(".node-name a").click();
        await page.getByRole("heading", { name: "Load", exact: true }).waitFor();
        const memory = page.getByRole("img", { name: /^Memory in use: now \d+ %/ });
        await memory.waitFor();
        await page.reload();
        await memory.waitFor();
        await page.getByRole("img", { name: /^Load average per processor: now/ }).waitFor();
        await page.getByRole("img", { name: /^Running, the most at a time: now \d+$/ }).waitFor();
        const box = await memory.locator(".line-chart-plot").boundingBox();
        await page.mouse.move(box.x + box.width / 2, box.y + 40);
        await page.getByText(/\d\d:\d\d:\d\d CET · \d+ %/).waitFor();
        await page.locator("main table a").first().waitFor(); // its newest runs
        await page.goto("/#/nodes/nowhere");
        await page.getByText("There is no node nowhere").waitFor();
        await page.context().close();
    });
});
