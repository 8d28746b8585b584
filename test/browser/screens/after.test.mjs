import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("jobs after others", () => {
    test("make one, see what it waits for, and see it run", async () => {
        const { api } = holder.world.agent;
        for (const name of ["extract", "load"]) await api("PUT", `/jobs/${name}`, { schedule: "@manual", command: ["true"] });
        const page = await holder.world.page();
        await page.goto("/#/new");
        await page.getByLabel("Name", { exact: true }).fill("report");
        await page.getByLabel("Program and arguments").fill("true");
        await page.getByText("after other jobs").click();
        await page.getByLabel("Job 1", { exact: true }).fill("extrct");
        await page.getByRole("button", { name: "Add another job" }).click();
        await page.getByLabel("Job 2", { exact: true }).fill("load");
        await page.getByLabel("Result of job 2").selectOption("always");
        await page.getByRole("button", { name: "Review and save" }).click();
        await page.locator(".field", { has: page.locator("#f-after-0") }).getByText('did you mean "extract"?').first().waitFor();
        await page.getByLabel("Job 1", { exact: true }).fill("extract");
        await page.getByRole("button", { name: "Review and save" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
        await page.getByText("Runs after").waitFor();
        expect((await api("GET", "/jobs/report")).body).toMatchObject({ after: [{ job: "extract" }, { job: "load", on: "always" }] });

        const panel = page.locator(".panel", { has: page.getByRole("heading", { name: "Dependencies" }) });
        await panel.getByText("Waiting for extract to succeed").first().waitFor();
        await api("POST", "/jobs/extract/run");
        await panel.getByText("extract: condition met").waitFor();
        await api("POST", "/jobs/load/run");
        await until("it has run", async () => (await api("GET", "/jobs/report")).body.status.last?.state === "ok");
        await page.getByText("after another job").first().waitFor();

        const graph = page.getByRole("group", { name: "Graph" });
        await graph.getByRole("listitem").filter({ hasText: "report" }).getByText("ok").waitFor();
        expect(await graph.getByRole("listitem").count()).toBe(3);
        expect(await graph.locator(".graph-edge").count()).toBe(2);
        await api("PUT", "/jobs/load", { schedule: "@manual", command: ["false"] });
        await api("POST", "/jobs/load/run");
        await graph.getByRole("listitem").filter({ hasText: "load" }).getByText("failed").waitFor(); // without a reload
        await page.screenshot({ path: `${process.env.PEAL_SCREENSHOTS ?? "/tmp"}/graph.png` });
        await graph.getByRole("link", { name: "load" }).click();
        await page.getByRole("heading", { name: "load" }).waitFor();
        await page.goBack();

        await panel.getByRole("link", { name: "extract" }).click();
        await page.getByRole("heading", { name: "extract" }).waitFor();
        await page.getByText("Downstream jobs").waitFor();
        await page.goto("/#/jobs?q=report");
        await page.getByText("after extract, load").first().waitFor();
        await page.context().close();
    });

    test("are drawn for a folder, with what they wait for elsewhere, live", async () => {
        const { api } = holder.world.agent;
        await api("PUT", "/jobs/etl%2Fload", { schedule: "@manual", command: ["true"] });
        await api("PUT", "/jobs/other", { schedule: "@manual", command: ["true"] });
        await api("PUT", "/jobs/etl%2Freport", { after: [{ job: "etl/load" }, { job: "other", on: "failure" }], command: ["true"] });
        await api("PUT", "/jobs/etl%2Falone", { schedule: "@manual", command: ["true"] });
        const page = await holder.world.page();
        await page.goto("/#/jobs?folder=etl");
        await page.getByRole("link", { name: "Graph" }).click();
        const graph = page.getByRole("group", { name: "Dependency graph" });
        await page.getByText("2 jobs with dependencies, 1 without").waitFor();
        expect(await graph.getByRole("listitem").count()).toBe(3);
        await graph.getByRole("listitem").filter({ hasText: "other" }).getByText("elsewhere").waitFor();
        await api("PUT", "/jobs/etl%2Fload", { schedule: "@manual", command: ["false"] });
        await api("POST", "/jobs/etl%2Fload/run");
        await graph.getByRole("listitem").filter({ hasText: "etl/load" }).getByText("failed").waitFor();
        await page.getByRole("combobox", { name: "Folder" }).selectOption("");
        await page.getByRole("link", { name: "As a list" }).click();
        await page.getByRole("heading", { name: "Jobs" }).waitFor();
        await page.context().close();
    });
});
