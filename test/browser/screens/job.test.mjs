import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("a job", () => {
    test("is gone from the screen when it is deleted elsewhere, and back when it is", async () => {
        const { world } = holder;
        await world.agent.api("PUT", "/jobs/fleeting", { schedule: "@daily", command: ["true"] });
        const page = await world.page();
        await page.goto("/#/jobs/fleeting");
        await page.getByRole("button", { name: "Run now" }).waitFor();
        await page.locator(".live-live").waitFor();
        await world.agent.api("DELETE", "/jobs/fleeting");
        await page.getByRole("button", { name: "Run now" }).waitFor({ state: "detached" });
        expect(await page.getByRole("alert").innerText()).toContain('there is no job "fleeting"');
        await world.agent.api("POST", "/jobs/fleeting/undelete");
        await page.getByRole("button", { name: "Run now" }).waitFor();
        await world.agent.api("DELETE", "/jobs/fleeting");
        await page.context().close();
    });

    test("shows when it runs, in the server's words, and why it did not", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs/billing%2Fclose-day");
        await page.getByText(/at 00:00|midnight/i).first().waitFor();
        await page.locator(".fires li").nth(7).waitFor();
        expect(await page.locator(".fires li").first().innerText()).toMatch(/0[56]:00:00 (CET|GMT)/); // midnight in New York
        await page.getByText("It has not been due").or(page.locator(".why p").nth(1)).first().waitFor();
        await page.getByText("Safe to run twice").waitFor();
        await page.context().close();
    });

    test("shows how long its runs took, drawn and in figures", async () => {
        const { world } = holder;
        await world.run("flaky", true);
        const page = await world.page();
        await page.goto("/#/jobs/flaky");
        await page.locator(".line-chart circle").first().waitFor();
        await page.getByRole("img", { name: /Duration of the last \d+ runs/ }).waitFor();
        await page.getByRole("img", { name: /Runs per day/ }).waitFor();
        expect(await page.locator(".figures").innerText()).toMatch(/% of \d/);
        await page.context().close();
    });

    test("has its definition as YAML and as JSON", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs/billing%2Fclose-day?tab=definition");
        await page.locator(".definition").waitFor();
        expect(await page.locator(".definition").innerText()).toContain("labels:\n  team: billing");
        await page.getByText("JSON").click();
        const definition = JSON.parse(await page.locator(".definition").innerText());
        expect([definition.name, definition.uid]).toEqual(["billing/close-day", undefined]);
        await page.context().close();
    });

    test("runs now, and leads to its run", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs/colours");
        await page.getByRole("button", { name: "Run now" }).click();
        await page.locator(".log-row", { hasText: "something went wrong" }).waitFor();
        expect(page.url()).toContain("#/runs/");
        await page.context().close();
    });

    test("asks for its parameters, says what is wrong with one, and runs again with them", async () => {
        const { world } = holder;
        await world.agent.api("PUT", "/jobs/asking", {
            schedule: "@manual",
            command: ["/bin/echo", "day=${day}", "${zone}"],
            params: { day: { help: "Which day" }, zone: { default: "eu", allowed: ["eu", "us"] }, count: { type: "integer", default: 5 } },
        });
        const page = await world.page();
        await page.goto("/#/jobs/asking");
        await page.getByRole("button", { name: "Run now…" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByLabel("day").fill("2026-11-01");
        await dialog.getByLabel("zone").selectOption("us");
        await dialog.getByLabel("count").fill("five");
        await dialog.getByRole("button", { name: "Run now" }).click();
        await dialog.getByText('"five" is not a whole number').waitFor();
        await dialog.getByLabel("count").fill("7");
        await dialog.getByText("Node, time limit").click();
        await dialog.getByLabel("Environment variables").fill("DEBUG=1");
        await dialog.getByRole("button", { name: "Run now" }).click();
        await page.locator(".log-row", { hasText: "day=2026-11-01 us" }).waitFor();
        await page.getByRole("button", { name: "Details" }).click();
        expect(await page.locator(".facts").innerText()).toMatch(/Parameter day\s+2026-11-01[\s\S]*Parameter count\s+7[\s\S]*DEBUG/);
        const first = page.url();
        await page.getByRole("button", { name: "Run again" }).click();
        await page.waitForURL((url) => String(url) !== first);
        await page.locator(".log-row", { hasText: "day=2026-11-01 us" }).waitFor();
        await page.context().close();
    });

    test("has a webhook, whose secret is shown once", async () => {
        const { world } = holder;
        await world.agent.api("PUT", "/jobs/hooked", { schedule: "@manual", command: ["true"] });
        const page = await world.page();
        await page.goto("/#/jobs/hooked");
        await page.getByRole("button", { name: "Create…" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByLabel("Sender").selectOption("gitlab");
        await dialog.getByRole("button", { name: "Create" }).click();
        await dialog.getByText("not shown again").waitFor();
        const [url, secret] = await dialog.locator("code").allInnerTexts();
        expect(url).toMatch(/^https?:\/\/.*\/hooks\/[0-9A-Z]{26}$/);
        expect(secret).toMatch(/^whsec_/);
        await dialog.getByRole("button", { name: "Close" }).click();
        await page.getByText("GitLab", { exact: true }).waitFor();
        expect(await page.content()).not.toContain(secret);
        await page.getByRole("button", { name: "New secret…" }).click();
        await dialog.getByRole("button", { name: "Create", exact: true }).click();
        await dialog.getByText("whsec_").waitFor();
        expect(await dialog.locator("code").last().innerText()).not.toBe(secret);
        await dialog.getByRole("button", { name: "Close" }).click();
        await page.locator(".hook-actions").getByRole("button", { name: "Delete…" }).click();
        await dialog.getByRole("button", { name: "Delete", exact: true }).click();
        await page.getByText("No webhook").waitFor();
        await page.context().close();
    });

    test("that is not there is told with the request's id", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs/nothing");
        await page.getByRole("alert").waitFor();
        expect(await page.getByRole("alert").innerText()).toMatch(/nothing[\s\S]*Request /);
        await page.context().close();
    });

    test("has its last output, notes with links, and one zone for all times", async () => {
        const { world } = holder;
        const notes = "# Runbook\n\nSee [the wiki](https://wiki.example.org/x), never [this](javascript:alert(1)).\n\n- call **ops**\n\n<img src=x onerror=alert(2)>";
        await world.agent.api("PUT", "/jobs/noted", { schedule: "30 2 * * MON", timezone: "Asia/Tokyo", shell: "seq 1 30; echo oh no >&2; exit 7", notes });
        const id = await world.run("noted", true);
        const page = await world.page();
        await page.goto("/#/jobs/noted");
        await page.locator(".status-line", { hasText: "exit code 7" }).getByText("oh no").waitFor();
        const output = await page.locator(".last-output").innerText();
        expect([output.includes("oh no"), output.includes("30"), output.includes("\n2\n")]).toEqual([true, true, false]);
        const links = await page.locator(".markdown a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
        expect(links).toEqual(["https://wiki.example.org/x"]);
        expect(await page.locator(".markdown img").count()).toBe(0);
        await page.locator(".markdown h3", { hasText: "Runbook" }).waitFor();
        const first = page.locator(".fires li").first();
        await until("Sunday in Berlin", async () => /^Sun .* 18:30:00 CET/.test(await first.innerText()));
        await page.getByLabel("Time zone of this page").selectOption("job");
        await until("Monday in Tokyo", async () => /^Mon .* 02:30:00 GMT\+9/.test(await first.innerText()));
        await page.getByLabel("Time zone of this page").selectOption("utc");
        await until("Sunday in UTC", async () => /^Sun .* 17:30:00 UTC/.test(await first.innerText()));
        await page.getByLabel("Time zone of this page").selectOption("local");
        const canvas = page.locator(".line-chart-plot");
        await canvas.hover();
        await page.locator(".chart-point", { hasText: "ms" }).waitFor();
        await canvas.click();
        await until("the run", () => page.url().includes(id));
        await page.context().close();
    });
});
