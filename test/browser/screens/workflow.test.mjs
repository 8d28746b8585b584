import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

const definition = (flag) => ({
    schedule: "@manual",
    steps: [
        { name: "extract", shell: 'echo "rows=7" >> "$PEAL_OUTPUT"' },
        { name: "load", after: "extract", each: { from: 1, to: 3 }, shell: "echo loading" },
        { name: "check", after: "load", shell: `test -e ${flag}` },
        { name: "report", after: "check", shell: 'echo "rows: ${steps.extract.rows}"' },
    ],
    finally: [{ name: "clean", shell: "echo cleaned" }],
});

describe("workflows", () => {
    test("an instance fails, is understood, and goes on from there", async () => {
        const { api } = holder.world.agent;
        const flag = `/tmp/peal-browser-flag-${process.pid}`;
        await api("PUT", "/jobs/etl", definition(flag));
        const { run_id: id } = (await api("POST", "/jobs/etl/run")).body;
        const page = await holder.world.page();
        await page.goto(`/#/runs/${id}`);
        const graph = page.getByRole("group", { name: "Graph" });
        const box = (name) => graph.getByRole("listitem").filter({ hasText: name });
        await box("check").getByText("Failed").waitFor();
        await box("load").getByText("3 of 3 items").waitFor();
        await box("report").getByText("Skipped").waitFor();
        await box("clean").getByText("OK").waitFor();
        await page.locator(".status-big").getByText("Failed").waitFor();
        expect(await graph.locator(".graph-edge").count()).toBeGreaterThan(3);
        await page.screenshot({ path: `${process.env.PEAL_SCREENSHOTS ?? "/tmp"}/instance.png` });

        await page.locator("main").getByText("Timeline", { exact: true }).click();
        expect(await page.locator(".gantt-critical").count()).toBeGreaterThan(2);
        await page.getByText("List", { exact: true }).click();
        await page.getByRole("row", { name: /report/ }).getByText("did not end as required").waitFor();
        await page.getByRole("link", { name: "check" }).click();
        await page.getByRole("button", { name: "Retry from this step" }).waitFor();
        await page.goBack();

        // What it lacked is there now: only what failed runs again.
        await api("PUT", "/jobs/etl", definition("/"));
        await page.getByRole("button", { name: "Retry failed steps" }).click();
        await until("the new instance is shown", async () => !page.url().includes(id));
        await page.locator(".status-big").getByText("OK").waitFor();
        await box("extract").getByText("from an earlier instance").waitFor();
        await box("report").getByRole("link").click();
        await page.getByText("rows: 7").waitFor();

        await page.goto("/#/jobs/etl");
        await page.getByRole("heading", { name: "Last instances" }).waitFor();
        expect(await page.locator(".workflow-grid tbody tr").count()).toBe(5);
        await page.locator(".workflow-grid").getByRole("link", { name: "check: Failed" }).waitFor();
        await page.context().close();
    });

    test("an instance that runs is cancelled", async () => {
        const { api } = holder.world.agent;
        await api("PUT", "/jobs/long", { schedule: "@manual", steps: [{ name: "wait", shell: "sleep 600" }, { name: "then", after: "wait", shell: "true" }] });
        const { run_id: id } = (await api("POST", "/jobs/long/run")).body;
        const page = await holder.world.page();
        await page.goto(`/#/runs/${id}`);
        const graph = page.getByRole("group", { name: "Graph" });
        await graph.getByRole("listitem").filter({ hasText: "wait" }).getByText("Running").waitFor();
        await graph.getByRole("listitem").filter({ hasText: "then" }).getByText("Waiting").waitFor();
        await page.getByRole("button", { name: "Cancel" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).last().click();
        await page.locator(".status-big").getByText("Killed").waitFor();
        await graph.getByRole("listitem").filter({ hasText: "then" }).getByText("Skipped").waitFor();
        await page.context().close();
    });
});
