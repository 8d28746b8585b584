import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("jobs", () => {
    test("are listed with their state and what is next", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs");
        const row = page.getByRole("row", { name: /paused-one/ });
        await row.waitFor();
        expect(await row.innerText()).toContain("Paused");
        expect(await page.getByRole("row", { name: /billing\/close-day/ }).innerText()).toMatch(/in \d+ (h|m|s)/);
        await page.context().close();
    });

    test("stay on the page, however long a name is", async () => {
        const { world } = holder;
        const name = `${"a-long-name-of-a-job-".repeat(5)}end`;
        await world.agent.api("PUT", `/jobs/${name}`, { schedule: "@manual", command: ["true"] });
        for (const width of [390, 1024, 1440]) {
            const page = await world.page({ viewport: { width, height: 800 } });
            await page.goto("/#/jobs");
            await page.getByRole("row", { name: /a-long-name/ }).waitFor();
            const menu = await page.getByRole("button", { name: "Actions for clock" }).boundingBox();
            expect(menu.x + menu.width).toBeLessThan(width);
            expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
            await page.context().close();
        }
        await world.agent.api("DELETE", `/jobs/${name}`);
    });

    test("are searched, filtered and sorted by the server, and the address says so", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs");
        await page.getByRole("searchbox").fill("flak");
        await until("one row", async () => (await page.locator("[data-row]").count()) === 1);
        expect(page.url()).toContain("q=flak");
        await page.getByRole("button", { name: "Clear filters" }).click();
        await page.getByLabel("Status", { exact: true }).selectOption("paused");
        await until("one row", async () => (await page.locator("[data-row]").allInnerTexts()).join() === "paused-one");
        await page.goto("/#/jobs?label=team%3Ddemo");
        await until("two rows", async () => (await page.locator("[data-row]").allInnerTexts()).join() === "clock,flaky");
        await page.context().close();
    });

    test("change on the screen when they change on the server", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/jobs");
        await page.locator(".live-live").waitFor();
        await world.agent.api("PUT", "/jobs/newcomer", { schedule: "@manual", command: ["true"] });
        await page.getByRole("link", { name: "newcomer" }).waitFor();
        await world.agent.api("DELETE", "/jobs/newcomer");
        await page.getByRole("link", { name: "newcomer" }).waitFor({ state: "detached" });
        await page.context().close();
    });

    test("are paused, resumed and labelled together, after a look at which", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/jobs");
        await page.getByLabel("Select colours").check();
        await page.getByLabel("Select paused-one").check();
        await page.getByRole("toolbar").getByRole("button", { name: "Pause" }).click();
        const dialog = page.getByRole("dialog");
        expect(await dialog.innerText()).toContain("Pause 1 job?");
        expect(await dialog.innerText()).toContain("1 job unchanged");
        await dialog.getByRole("button", { name: "Pause" }).click();
        await until("it to be paused", async () => (await world.agent.api("GET", "/jobs/colours")).body.status.paused);
        await page.getByRole("toolbar").waitFor({ state: "detached" }); // the selection is cleared
        await page.getByLabel("Select colours").check();
        await page.getByRole("toolbar").getByRole("button", { name: "Resume" }).click();
        await dialog.getByRole("button", { name: "Resume" }).click();
        await until("it to be resumed", async () => !(await world.agent.api("GET", "/jobs/colours")).body.status.paused);
        await page.getByRole("toolbar").waitFor({ state: "detached" }); // the selection is cleared
        await page.getByLabel("Select colours").check();
        await page.getByRole("button", { name: "Label…" }).click();
        await dialog.getByLabel("Label", { exact: true }).fill("tier");
        await dialog.getByLabel(/^Value/).fill("9");
        await dialog.getByRole("button", { name: "Set label" }).click();
        await page.getByRole("link", { name: "tier=9" }).waitFor();
        await page.context().close();
    });

    test("are deleted, and brought back", async () => {
        const { world } = holder;
        await world.agent.api("PUT", "/jobs/short-lived", { schedule: "@manual", command: ["true"] });
        const page = await world.page();
        await page.goto("/#/jobs?q=short");
        await page.getByRole("button", { name: "Actions for short-lived" }).click();
        await page.getByRole("menuitem", { name: "Delete…" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
        await page.getByRole("link", { name: "short-lived" }).waitFor({ state: "detached" });
        await page.getByRole("button", { name: "Undo" }).click();
        await page.getByRole("link", { name: "short-lived" }).waitFor();
        await page.context().close();
    });

    test("are paused and deleted by the thousand, as many as match", async () => {
        const { world } = holder;
        const many = Array.from({ length: 2500 }, (_, i) => ({ name: `many/${String(i).padStart(4, "0")}`, schedule: "@daily", command: ["true"] }));
        for (let i = 0; i < many.length; i += 500) await world.agent.api("POST", "/jobs:batch", { put: many.slice(i, i + 500) });
        await world.agent.api("POST", "/jobs/many%2F0042/pause");
        const page = await world.page();
        await page.goto("/#/jobs?q=many/");
        const dialog = page.getByRole("dialog");
        const chooseAll = async () => {
            await page.getByLabel("Select all shown").check();
            await page.getByRole("button", { name: /^Select all jobs that match/ }).click();
            await page.getByRole("toolbar", { name: "All 2500 matching jobs" }).waitFor();
        };
        await chooseAll();
        await page.getByRole("toolbar").getByRole("button", { name: "Pause" }).click();
        await dialog.getByText("Pause 2499 jobs?").waitFor();
        expect(await dialog.innerText()).toMatch(/and 2479 more\s+1 unchanged: they are paused already/);
        await dialog.getByRole("button", { name: "Pause" }).click();
        await dialog.getByText("2499 jobs paused.").waitFor();
        await dialog.getByRole("button", { name: "Close" }).click();
        const left = async (more) => (await world.agent.api("GET", `/jobs?q=many/&limit=1000&fields=name${more}`)).body.items;
        expect((await left("&status=paused")).length).toBe(1000);
        await chooseAll();
        await page.getByRole("toolbar").getByRole("button", { name: "Label…" }).click();
        await dialog.getByLabel("Label", { exact: true }).fill("tier");
        await dialog.getByLabel(/^Value/).fill("9");
        await dialog.getByRole("button", { name: "Set label" }).click();
        await dialog.getByText("Label 2500 jobs").waitFor();
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await page.getByRole("toolbar").getByRole("button", { name: "Delete…" }).click();
        await dialog.getByText("Delete 2500 jobs?").waitFor();
        let letThrough;
        const isStopped = new Promise((resolve) => (letThrough = resolve));
        await page.route("**/jobs:act?*", async (route) => {
            if (route.request().postDataJSON().cursor) await isStopped;
            await route.continue();
        });
        await dialog.getByRole("button", { name: "Delete" }).click();
        await dialog.getByText("200 of 2500").waitFor();
        await dialog.getByRole("button", { name: "Stop" }).click();
        letThrough();
        await dialog.getByRole("button", { name: "Continue" }).click();
        await dialog.getByText("2500 jobs deleted.").waitFor();
        expect(await left("")).toEqual([]);
        await page.context().close();
    });

    test("are cloned", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/jobs?q=billing");
        await page.getByRole("button", { name: "Actions for billing/close-day" }).click();
        await page.getByRole("menuitem", { name: "Clone…" }).click();
        await page.getByLabel("Name of the new job").fill("billing/close-night");
        await page.getByRole("dialog").getByRole("button", { name: "Clone" }).click();
        await page.getByRole("heading", { name: "billing/close-night" }).waitFor();
        const made = (await world.agent.api("GET", "/jobs/billing%2Fclose-night")).body;
        expect([made.owner, made.timeout, made.status.paused]).toEqual(["billing@example.org", "2h", true]);
        await page.context().close();
    });

    test("are renamed", async () => {
        const { world } = holder;
        const page = await world.page();
        const before = (await world.agent.api("GET", "/jobs/billing%2Fclose-night")).body;
        const watcher = await world.page();
        await watcher.goto("/#/jobs/billing%2Fclose-night");
        await watcher.getByRole("heading", { name: "billing/close-night" }).waitFor();
        await page.goto("/#/jobs/billing%2Fclose-night");
        await page.getByRole("button", { name: "More actions" }).click();
        await page.getByRole("menuitem", { name: "Rename…" }).click();
        const dialog = page.getByRole("dialog");
        expect(await dialog.getByRole("button", { name: "Rename" }).isDisabled()).toBe(true);
        await dialog.getByLabel("New name").fill("billing/close-dusk");
        await dialog.getByRole("button", { name: "Rename" }).click();
        await page.getByRole("heading", { name: "billing/close-dusk" }).waitFor();
        const renamed = (await world.agent.api("GET", "/jobs/billing%2Fclose-dusk")).body;
        expect(renamed.uid).toBe(before.uid);
        await watcher.getByRole("heading", { name: "billing/close-dusk" }).waitFor();
        await watcher.context().close();
        await page.goto("/#/jobs/billing%2Fclose-night");
        await page.getByText('it was renamed to "billing/close-dusk"').waitFor();
        await page.context().close();
    });

    test("have totals, folders, owners, columns and views", async () => {
        const { world } = holder;
        for (const name of ["tree/a/one", "tree/a/two", "tree/b/one", "tree/three"])
            await world.agent.api("PUT", `/jobs/${encodeURIComponent(name)}`, { schedule: "@manual", command: ["true"], owner: "gardener@example.org" });
        const page = await world.page();
        await page.goto("/#/jobs?q=tree/");
        const totals = page.locator(".folders");
        await totals.getByText(/^4 of \d+ jobs$/).waitFor();
        await totals.getByRole("link", { name: "tree/ 4" }).click();
        await totals.getByRole("link", { name: "a/ 2" }).click();
        await totals.getByText(/^2 of \d+ jobs$/).waitFor();
        await until("two rows", async () => (await page.locator("[data-row]").count()) === 2);
        await totals.getByRole("link", { name: "tree", exact: true }).click();
        await until("four rows", async () => (await page.locator("[data-row]").count()) === 4);
        await page.getByLabel("Owner").selectOption({ label: "gardener@example.org (4)" });
        await until("the address", () => page.url().includes("owner=gardener"));
        await page.getByRole("button", { name: "Views and columns" }).click();
        await page.getByRole("menuitem", { name: "Save this view…" }).click();
        await page.getByLabel("Name of the view").fill("the garden");
        await page.getByRole("button", { name: "Save" }).click();
        await page.goto("/#/jobs");
        await page.getByRole("button", { name: "Views and columns" }).click();
        await page.getByRole("menuitem", { name: "the garden" }).click();
        await until("the view", () => page.url().includes("owner=gardener"));
        await page.getByRole("button", { name: "Views and columns" }).click();
        await page.getByRole("menuitem", { name: "Columns…" }).click();
        await page.getByRole("dialog").getByLabel("Last run").uncheck();
        await page.getByRole("button", { name: "Close" }).click();
        await until("no such column", async () => (await page.getByRole("columnheader", { name: "Last run" }).count()) === 0);
        await page.getByLabel("Select all shown").check();
        await page.getByRole("toolbar").getByRole("button", { name: "Pause" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
        await page.getByText("4 jobs paused.").waitFor();
        await page.getByRole("button", { name: "Undo" }).click();
        await page.getByText("4 jobs resumed.").waitFor();
        await page.context().close();
    });

    test("are chosen by the node that ran them, also in Chinese", async () => {
        const { world } = holder;
        const node = (await world.agent.api("GET", "/nodes")).body.items[0].node;
        for (const name of ["placed/ran", "placed/never"])
            await world.agent.api("PUT", `/jobs/${encodeURIComponent(name)}`, { schedule: "@manual", command: ["true"] });
        await world.agent.api("POST", "/jobs/placed%2Fran/run");
        await until("its run", async () => (await world.agent.api("GET", "/jobs/placed%2Fran")).body.status.last?.state === "ok");
        const page = await world.page();
        await page.goto("/#/jobs?q=placed/");
        await until("two rows", async () => (await page.locator("[data-row]").count()) === 2);
        const choice = page.getByLabel("Node", { exact: true });
        await choice.selectOption({ label: `${node} (1)` });
        await until("one row", async () => (await page.locator("[data-row]").count()) === 1);
        expect(await page.locator("[data-row]").innerText()).toBe("placed/ran");
        await until("the address", () => page.url().includes(`node=${encodeURIComponent(node)}`));
        await page.getByRole("button", { name: "Views and columns" }).click();
        await page.getByRole("menuitem", { name: "Save this view…" }).click();
        await page.getByLabel("Name of the view").fill("of this node");
        await page.getByRole("button", { name: "Save" }).click();
        await choice.selectOption({ label: "Any node" });
        await until("two rows", async () => (await page.locator("[data-row]").count()) === 2);
        expect(page.url()).not.toContain("node=");
        await page.getByRole("button", { name: "Views and columns" }).click();
        await page.getByRole("menuitem", { name: "of this node" }).click();
        await until("one row", async () => (await page.locator("[data-row]").count()) === 1);
        expect(await choice.inputValue()).toBe(node);
        await page.context().close();
        const chinese = await world.page({ locale: "zh-CN" });
        await chinese.goto("/#/jobs?q=placed/");
        await chinese.getByLabel("节点", { exact: true }).selectOption({ label: `${node} (1)` });
        await until("one row", async () => (await chinese.locator("[data-row]").count()) === 1);
        await chinese.context().close();
    });
});
