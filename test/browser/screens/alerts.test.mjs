import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();
let receiver;

beforeAll(async () => {
    receiver = createServer((request, answer) => request.resume().on("end", () => answer.end("thanks")));
    await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
});

afterAll(() => receiver.close());

describe("alerts", () => {
    test("tell what was sent and what waits, by channel and by job, and send a test", async () => {
        const { world } = holder;
        const { api } = world.agent;
        const url = `http://127.0.0.1:${receiver.address().port}/in`;
        await api("PUT", "/channels/heard", { type: "webhook", url, on: ["failure"] });
        await api("PUT", "/channels/unheard", { type: "webhook", url: "http://127.0.0.1:9/none", on: ["failure"] });
        await api("PUT", "/jobs/doomed", { schedule: "@manual", shell: "exit 1", notify: ["heard", "unheard"] });
        await world.run("doomed", true);
        await until("a message", async () => (await api("GET", "/channels/heard")).body.delivery.sent === 1);
        await until("a failed one", async () => (await api("GET", "/channels/unheard")).body.delivery.failed > 0);
        const page = await world.page();
        await page.goto("/");
        await page.getByRole("link", { name: "Alerts" }).click();
        const channels = page.locator(".panel", { has: page.getByRole("heading", { name: "Channels" }) });
        await channels.getByRole("row", { name: /^heard delivers 1 0/ }).waitFor();
        await channels.getByRole("row", { name: /^unheard does not deliver 0 1/ }).waitFor();
        await page.getByRole("row", { name: /^doomed 1 1 0/ }).waitFor();
        await channels.getByRole("row", { name: /^heard/ }).getByRole("button", { name: "Test", exact: true }).click();
        await page.getByText("heard: test message delivered.").waitFor();
        await channels.getByRole("row", { name: /^unheard/ }).getByRole("button", { name: "Test", exact: true }).click();
        await page.getByText("unheard: not delivered:").waitFor();
        await page.getByLabel("State").selectOption("waiting");
        const messages = page.locator(".panel", { has: page.getByRole("heading", { name: "Messages", exact: true }) });
        await until("what waits alone", async () => (await messages.locator("tbody tr").count()) === 1);
        await messages.getByRole("row", { name: /waiting failure doomed unheard/ }).getByRole("link").click();
        await page.getByRole("heading", { name: /doomed/ }).waitFor();
        await page.context().close();
    });

    test("are silenced for a job, and no longer", async () => {
        const { world } = holder;
        const { api } = world.agent;
        const page = await world.page();
        await page.goto("/");
        await page.getByRole("button", { name: "Messages about doomed" }).click();
        await page.getByRole("menuitem", { name: "Acknowledge…" }).click();
        await page.getByLabel("Reason (optional)").fill("the disk is on its way");
        await page.getByRole("dialog").getByRole("button", { name: "Acknowledge" }).click();
        await page.getByText("the disk is on its way").first().waitFor();
        await page.goto("/#/jobs/doomed");
        await page.locator(".status-line").getByText("the disk is on its way").waitFor();
        await page.goto("/#/alerts");
        const silences = page.locator(".panel", { has: page.getByRole("heading", { name: "Silences" }) });
        await silences.getByRole("listitem").filter({ hasText: "doomed" }).getByRole("button", { name: "Unmute" }).click();
        await silences.getByText("No job is muted or acknowledged.").waitFor();
        expect((await api("GET", "/jobs/doomed")).body.status.mute.active).toBe(false);
        await page.context().close();
    });

    test("show messages to admins alone", async () => {
        const { world } = holder;
        await world.agent.api("POST", "/users", { name: "vera", password: "correct horse", role: "viewer" });
        const page = await world.page({ as: "vera" });
        await page.goto("/#/alerts");
        await page.getByText("Only admins can see channels and messages.").waitFor();
        expect(await page.getByRole("heading", { name: "Messages" }).count()).toBe(0);
        await page.context().close();
    });
});
