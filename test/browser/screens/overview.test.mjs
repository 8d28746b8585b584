import { describe, expect, test } from "vitest";
import { startWorld, until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("the overview", () => {
    test("is where one starts; it shows what failed, what runs and what comes", async () => {
        const { world } = holder;
        const shell = "echo fine; echo 'no route to host' >&2; exit 3";
        await world.agent.api("PUT", "/jobs/unlucky", { schedule: "@manual", shell, owner: "net@example.org" });
        await world.run("unlucky", true);
        await world.run("unlucky", true);
        await world.agent.api("PUT", "/jobs/stopped", { schedule: "@manual", shell: "sleep 60", grace: "1s" });
        const stopped = await world.run("stopped");
        await world.agent.api("POST", `/runs/${stopped}/kill`);
        await until("the kill", async () => (await world.agent.api("GET", `/runs/${stopped}`)).body.state === "killed");
        await world.run("long");
        const page = await world.page();
        await page.goto("/");
        const panel = (name) => page.locator(".panel", { has: page.getByRole("heading", { name }) });
        const failed = panel("Needs attention").getByRole("listitem").filter({ hasText: "unlucky" });
        await failed.waitFor();
        await failed.getByText("no route to host").waitFor();
        const words = await failed.innerText();
        for (const word of ["Failed", "exit code 3", "2 failures in a row since", "net@example.org"]) expect(words).toContain(word);
        expect(await panel("Needs attention").getByText("stopped").count()).toBe(0); // on purpose
        await panel("Running now").getByRole("link", { name: "long" }).waitFor();
        await panel("Upcoming runs").getByRole("link", { name: "clock" }).waitFor();
        await until("the figures", async () => /Success rate\s+[\d.]+ %/.test(await panel("Last 24 hours").innerText()));
        await page.context().close();
    });

    test("says which channel does not deliver", async () => {
        const { world } = holder;
        await world.agent.api("PUT", "/channels/pager", { type: "webhook", url: "http://127.0.0.1:9/none", on: ["failure"], default: true });
        await world.agent.api("PUT", "/jobs/unheard", { schedule: "@manual", shell: "exit 1" });
        await world.run("unheard", true);
        await until("a failed message", async () => (await world.agent.api("GET", "/channels/pager")).body.delivery.last_failed_at);
        const page = await world.page();
        await page.goto("/");
        const alarm = page.getByRole("alert").filter({ hasText: "Channel pager does not deliver" });
        await alarm.getByRole("link", { name: "Channel pager" }).click();
        await page.getByRole("heading", { name: "Alerts" }).waitFor();
        await page.context().close();
        await world.agent.api("DELETE", "/jobs/unheard");
        await world.agent.api("DELETE", "/channels/pager");
    });

    test("says what is wrong with the history, as the nodes and the settings do", async () => {
        // Nobody listens there.
        const world = await startWorld({ jobs: [], agent: ["--history", "postgresql://peal@127.0.0.1:1/peal"] });
        const page = await world.page();
        const words = /History problem: .*127\.0\.0\.1.*refused/;
        for (const address of ["/", "/#/nodes", "/#/settings?tab=about"]) {
            await page.goto(address);
            await page.getByRole("alert").filter({ hasText: words }).waitFor();
        }
        const about = await world.agent.api("GET", "/agent");
        expect(await page.getByRole("alert").first().innerText()).toContain(about.body.history.detail.slice(0, 60));
        expect(world.problems).toEqual([]);
        await world.stop();
    });

    test("leads from nothing to the first job, with a demo that goes again", async () => {
        const world = await startWorld({ jobs: [] });
        const page = await world.page();
        await page.goto("/");
        const first = page.locator(".first");
        await first.getByRole("button", { name: "Add demo jobs" }).click();
        await first.getByRole("button", { name: "Remove the demo" }).waitFor();
        await page.getByText("demo/heartbeat").first().waitFor();
        expect(await first.locator(".is-done").count()).toBe(0);
        await world.agent.api("PUT", "/channels/ops", { type: "webhook", url: "http://127.0.0.1:9/x" });
        await world.agent.api("PUT", "/jobs/own", { schedule: "@daily", timezone: "UTC", command: ["true"] });
        await first.getByRole("button", { name: "Remove the demo" }).click();
        await first.getByRole("button", { name: "Add demo jobs" }).waitFor();
        await world.until("two steps", async () => (await first.locator(".is-done").count()) === 2);
        const jobs = (await world.agent.api("GET", "/jobs?fields=name")).body.items;
        expect(jobs.map((job) => job.name)).toEqual(["own"]);
        await first.getByRole("link", { name: "New job" }).click();
        await page.getByRole("heading", { name: "New job" }).waitFor();
        await page.goto("/#/");
        await first.getByRole("button", { name: "Hide" }).click();
        await first.waitFor({ state: "detached" });
        expect(world.problems).toEqual([]);
        await world.stop();
    });
});
