// Two nodes that share no history: what the console says of the one that is away.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startAgent } from "../support/agent.mjs";
import { startEtcd } from "../support/etcd.mjs";
import { startWorld, until } from "../support/world.mjs";

const missing = /^there (is away|could not|did not)/;
let etcd;
let world;
let other;

beforeAll(async () => {
    etcd = await startEtcd();
    if (!etcd) return;
    const node = (id) => ["--store", etcd.store, "--node-id", id, "--label", `name=${id}`];
    world = await startWorld({ jobs: [], agent: node("here") });
    other = await startAgent(node("there"));
    for (const name of ["here", "there"])
        await world.agent.api("PUT", `/jobs/on-${name}`, { schedule: "@manual", where: `name=${name}`, command: ["echo", name] });
    await until("both nodes", async () => (await world.agent.api("GET", "/nodes")).body.items.filter((item) => item.state === "ready").length === 2);
});

afterAll(async () => {
    await world?.stop();
    await etcd?.stop();
});

describe("a cluster", () => {
    test("has the runs of all its nodes, and the console says which node keeps some back", async (context) => {
        if (!etcd) context.skip();
        await world.run("on-here", true);
        const id = await world.run("on-there", true);
        const page = await world.page();
        await page.goto("/#/runs");
        await page.locator(`a[href="#/runs/${id}"]`).waitFor();
        expect(await page.locator(".incomplete").count()).toBe(0);
        await page.goto("/#/nodes");
        const row = page.getByRole("row", { name: /there/ });
        await row.getByText("Ready").waitFor();
        await until("a watch lag", async () => /\d+(\.\d+)? (ms|s)/.test(await row.getByTitle("Delay from a change in the store").innerText()));
        await page.getByRole("img", { name: /here: .*there: / }).waitFor(); // their clocks
        await other.kill();
        for (const address of ["#/runs", "#/", "#/timeline", "#/jobs/on-there", "#/jobs/on-there?tab=runs", "#/settings?tab=audit"]) {
            await page.goto(`/${address}`);
            await page.locator(".incomplete").getByText(missing).first().waitFor();
        }
        await page.goto(`/#/runs/${id}`);
        await page.getByRole("alert").getByText(missing).first().waitFor();
        await page.goto("/#/nodes");
        await row.getByText("Gone").waitFor();
        expect(await row.innerText()).toContain("has not been heard of for");
        await page.goto("/");
        await page.getByRole("alert").filter({ hasText: /there is gone; its last heartbeat was at .*\d:\d\d.*\. Start its agent again/ }).waitFor();
        expect(world.problems).toEqual([]);
        await page.context().close();
    });
});
