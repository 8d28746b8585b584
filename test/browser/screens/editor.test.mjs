import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

async function review(page) {
    await page.getByRole("button", { name: "Review and save" }).click();
    return page.getByRole("dialog");
}

describe("the editor", () => {
    test("explains a schedule while it is typed, and shows where it is wrong", async () => {
        const page = await holder.world.page();
        await page.goto("/#/new");
        await page.getByLabel("Schedule", { exact: true }).fill("*/5 25 * * MON");
        await page.getByText("hour 25 is out of range").waitFor();
        expect(await page.locator(".caret").innerText()).toBe("    ^");
        await page.getByLabel("Schedule", { exact: true }).fill("30 2 * * *");
        await page.getByLabel("Time zone", { exact: true }).fill("America/New_York");
        await page.getByText("At 02:30 every day").waitFor();
        await page.getByText("does not exist on").waitFor();
        await until("ten times", async () => (await page.locator(".fires-next tbody tr").count()) === 10);
        expect(await page.locator(".fires-next tbody tr").first().innerText()).toMatch(/02:30:00 -0[45]:00[\s\S]*CET|CEST[\s\S]*UTC/);
        await page.context().close();
    });

    test("shows the times that the job will have, by its name and its bounds", async () => {
        const { world } = holder;
        const H = { schedule: "H 3 * * *", timezone: "UTC", start: "2096-03-01", command: ["true"] };
        await world.agent.api("PUT", "/jobs/hashed", H);
        const [fire] = (await world.agent.api("GET", "/jobs/hashed/next?n=1")).body.fires;
        const time = fire.local.slice(11, 19); // 03:17:00
        const page = await world.page();
        await page.goto("/#/jobs/hashed");
        await page.getByText(`At ${time.slice(0, 5)} every day`).waitFor();
        await page.goto("/#/jobs/hashed/edit");
        await page.getByText(`At ${time.slice(0, 5)} every day`).waitFor();
        await page.locator(".fires-next").getByText(`2096-03-01 ${time}`).first().waitFor();
        await page.context().close();
        await world.agent.api("DELETE", "/jobs/hashed");
    });

    test("makes a job, after a look at it", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/new");
        await page.getByLabel("Name", { exact: true }).fill("made/here");
        await page.getByLabel("Program and arguments").fill("/bin/echo 'hello world'");
        await page.getByLabel("Schedule", { exact: true }).fill("@daily");
        const dialog = await review(page);
        expect(await dialog.locator("pre").innerText()).toContain("hello world");
        expect((await world.agent.api("GET", "/jobs/made%2Fhere")).status).toBe(404);
        await dialog.getByRole("button", { name: "Save" }).click();
        await page.getByRole("heading", { name: "made/here" }).waitFor();
        const made = (await world.agent.api("GET", "/jobs/made%2Fhere")).body;
        expect([made.command, made.timezone]).toEqual([["/bin/echo", "hello world"], "Europe/Berlin"]);
        await page.context().close();
    });

    test("shows what the server does not take at its field", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs/billing%2Fclose-day/edit");
        await page.getByText("Overlap, failures and notifications").click();
        await page.getByLabel("Timeout", { exact: true }).fill("soon");
        await page.getByRole("button", { name: "Review and save" }).click();
        await page.locator(".field", { has: page.locator("#f-timeout") }).locator(".mistakes p").waitFor();
        expect(await page.locator("#f-timeout").getAttribute("aria-invalid")).toBe("true");
        await page.context().close();
    });

    test("keeps form and YAML in step, both ways", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/jobs/billing%2Fclose-day/edit");
        await page.getByLabel("Schedule", { exact: true }).fill("@weekly");
        await page.getByText("YAML", { exact: true }).click();
        const text = page.getByLabel("Definition as YAML");
        expect(await text.inputValue()).toMatch(/^name: billing\/close-day\nschedule: "@weekly"/);
        await text.press("Control+Home");
        await page.getByText("slashes form groups").waitFor(); // what the field at the cursor does
        await text.fill((await text.inputValue()).replace("main books", "other books").replace("timeout: 2h", "timeout: 90m # less"));
        await page.getByText("Form", { exact: true }).click();
        expect(await page.getByLabel("Program and arguments").inputValue()).toBe("/srv/billing/close-day --ledger 'other books'");
        await page.getByText("Overlap, failures and notifications").click();
        expect(await page.getByLabel("Timeout", { exact: true }).inputValue()).toBe("90m");
        const dialog = await review(page);
        await dialog.getByRole("button", { name: "Save" }).click();
        await page.waitForURL(/\/jobs\/billing%2Fclose-day$/); // the editor is left when it is saved
        const saved = (await world.agent.api("GET", "/jobs/billing%2Fclose-day")).body;
        expect([saved.schedule, saved.timeout, saved.command[2]]).toEqual(["@weekly", "1h30m", "other books"]);
        await page.context().close();
    });

    test("shows a mistake in YAML at its line and column, and leads there", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs/flaky/edit");
        await page.getByText("YAML", { exact: true }).click();
        const text = page.getByLabel("Definition as YAML");
        const save = page.getByRole("button", { name: "Review and save" });
        // It is YAML, and no job: the form has it, too.
        await text.fill('name: flaky\nschedule: "*/5 25 * * MON"\nshell: x\n');
        const mistake = page.getByRole("button", { name: /Line 2, column 16: .*hour 25 is out of range/ });
        await mistake.waitFor();
        expect(await page.locator(".yaml-gutter .is-bad").innerText()).toBe("2\n");
        expect(await save.isDisabled()).toBe(true);
        await mistake.click();
        expect(await text.evaluate((area) => area.value.slice(0, area.selectionStart))).toBe('name: flaky\nschedule: "*/5 ');
        await page.getByText("Form", { exact: true }).click();
        await page.getByText("hour 25 is out of range").waitFor();
        await page.getByText("YAML", { exact: true }).click();
        // It is not even YAML: there is nothing that the form could show.
        await text.fill("name: flaky\nlabels: {team: x\nshell: x\n");
        await page.getByRole("button", { name: /^Line [23], column \d+/ }).waitFor();
        expect(await page.getByRole("radio", { name: "Form" }).isDisabled()).toBe(true);
        await text.fill("name: flaky\nschedule: '@daily'\nshell: x\n");
        await until("it to be good", async () => !(await save.isDisabled()));
        expect(await page.locator(".yaml-mistake").count()).toBe(0);
        await page.context().close();
    });

    test("lets two who edit the same job choose field by field", async () => {
        const { world } = holder;
        const job = { schedule: "@daily", timezone: "UTC", command: ["true"], owner: "one@example.org", timeout: "1h" };
        await world.agent.api("PUT", "/jobs/shared", job);
        const page = await world.page();
        await page.goto("/#/jobs/shared/edit");
        await page.getByLabel("Schedule", { exact: true }).fill("@hourly");
        await world.agent.api("PATCH", "/jobs/shared", { schedule: "@weekly", owner: "two@example.org" });
        const dialog = await review(page);
        await dialog.getByText("changed by both").waitFor();
        expect(await dialog.locator(".conflict").count()).toBe(2);
        await dialog.getByRole("button", { name: "Use these values" }).click();
        await (await review(page)).getByRole("button", { name: "Save" }).click();
        await page.getByRole("heading", { name: "shared", exact: true }).waitFor();
        const saved = (await world.agent.api("GET", "/jobs/shared")).body;
        expect([saved.schedule, saved.owner]).toEqual(["@hourly", "two@example.org"]);
        await page.context().close();
    });

    test("is reached by Ctrl-K from the job", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs/flaky");
        await page.getByRole("heading", { name: "flaky" }).waitFor();
        await page.keyboard.press("Control+k");
        await page.getByRole("dialog").getByRole("combobox").fill("edit flaky");
        await page.getByRole("option", { name: "Edit flaky" }).waitFor();
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: "Edit flaky" }).waitFor();
        await page.context().close();
    });

    test("tells who may not make jobs, and takes nothing from them", async () => {
        const { world } = holder;
        await world.agent.api("POST", "/users", { name: "vera", password: "correct horse", role: "viewer" });
        const page = await world.page({ as: "vera" });
        await page.goto("/#/new");
        await page.getByText("You may not create jobs.").waitFor();
        expect(await page.getByLabel("Name", { exact: true }).isDisabled()).toBe(true);
        expect(await page.getByRole("button", { name: "Review and save" }).count()).toBe(0);
        await page.context().close();
    });

    test("says that a name is taken", async () => {
        const page = await holder.world.page();
        await page.goto("/#/new");
        await page.getByLabel("Name", { exact: true }).fill("flaky");
        await page.getByLabel("Program and arguments").fill("true");
        await page.getByLabel("Schedule", { exact: true }).fill("@daily");
        await page.getByRole("button", { name: "Review and save" }).click();
        await page.getByRole("link", { name: "Edit that job" }).waitFor();
        await page.context().close();
    });

    test("asks before changes are lost", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/jobs/clock/edit");
        await page.getByLabel("Time zone", { exact: true }).fill("Asia/Tokyo");
        await page.getByRole("link", { name: "Runs", exact: true }).click();
        await page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Keep editing" }).click();
        expect(page.url()).toContain("/jobs/clock/edit");
        expect(await page.getByLabel("Time zone", { exact: true }).inputValue()).toBe("Asia/Tokyo");
        await page.getByRole("link", { name: "Runs", exact: true }).click();
        await page.getByRole("button", { name: "Discard changes" }).click();
        await page.getByRole("heading", { name: "Runs" }).waitFor();
        await page.context().close();
    });

    test("builds a schedule of choices, and shows in them what is typed", async () => {
        const page = await holder.world.page();
        await page.goto("/#/new");
        const schedule = page.getByLabel("Schedule", { exact: true });
        await page.getByLabel("How often").selectOption("weekdays");
        await page.getByLabel("Time of day").fill("08:30");
        expect(await schedule.inputValue()).toBe("30 8 * * MON-FRI");
        await page.getByText("At 08:30 Monday to Friday").or(page.getByText(/08:30.*Friday/)).first().waitFor();
        await page.getByLabel("How often").selectOption("week");
        await page.getByRole("group", { name: "Days of the week" }).getByRole("button", { name: "Thu" }).click();
        expect(await schedule.inputValue()).toBe("30 8 * * MON,THU");
        await schedule.fill("*/15 * * * *");
        expect(await page.getByLabel("Interval").inputValue()).toBe("15");
        await schedule.fill("H 3 * * 1#2");
        await page.getByLabel("How often").getByText("As typed below").waitFor({ state: "attached" });
        await page.context().close();
    });

    test("starts from a template, and runs a definition before it is saved", async () => {
        const { world } = holder;
        const page = await world.page();
        await page.goto("/#/new");
        await page.getByRole("button", { name: "Nightly backup" }).click();
        await page.getByLabel("Name", { exact: true }).fill("db/trial");
        await page.getByRole("textbox", { name: "Script" }).fill("echo tried; echo oops >&2; exit 3");
        await page.getByRole("button", { name: "Test run" }).click();
        const dialog = page.getByRole("dialog", { name: "Test run" });
        await dialog.getByRole("button", { name: "Run once now" }).click();
        await dialog.getByText("oops").waitFor();
        await dialog.getByText(/exit code 3/).waitFor();
        expect((await world.agent.api("GET", "/jobs/db%2Ftrial")).status).toBe(404);
        const made = (await world.agent.api("GET", "/jobs/db%2Ftrial.trial")).body;
        expect([made.schedule, made.labels, made.retries, made.timeout, made.delete_after]).toEqual(["@manual", { trial: "true" }, undefined, "1h", "1h"]);
        await dialog.getByRole("button", { name: "Close" }).click();
        await until("the job of the trial to go", async () => (await world.agent.api("GET", "/jobs/db%2Ftrial.trial")).status === 404);
        const runs = (await world.agent.api("GET", "/runs?q=db%2Ftrial.trial")).body.items;
        expect(runs.map((run) => run.state)).toEqual(["failed"]);

        // Also when the page goes while the dialog is open.
        await page.getByRole("button", { name: "Test run" }).click();
        await dialog.getByRole("button", { name: "Run once now" }).click();
        await dialog.getByText(/exit code 3/).waitFor();
        expect((await world.agent.api("GET", "/jobs/db%2Ftrial.trial")).status).toBe(200);
        page.on("dialog", (question) => question.accept()); // there are changes
        await page.goto("about:blank");
        await until("the job of the trial to go with its page", async () => (await world.agent.api("GET", "/jobs/db%2Ftrial.trial")).status === 404);
        await page.context().close();
    });

    test("leaves a job alone that has the name of a trial", async () => {
        const { world } = holder;
        await world.agent.api("PUT", "/jobs/clock.trial", { schedule: "@daily", timezone: "UTC", command: ["true"] });
        const page = await world.page();
        await page.goto("/#/jobs/clock/edit");
        await page.getByRole("button", { name: "Test run" }).click();
        await page.getByRole("button", { name: "Run once now" }).click();
        await page.getByRole("dialog").getByRole("alert").waitFor();
        await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
        expect((await world.agent.api("GET", "/jobs/clock.trial")).body.schedule).toBe("@daily");
        await page.context().close();
        await world.agent.api("DELETE", "/jobs/clock.trial");
    });

    test("shows all mistakes at once, leads to them, and forgets those that are made good", async () => {
        const page = await holder.world.page();
        await page.goto("/#/jobs/billing%2Fclose-day/edit");
        await page.getByText("Overlap, failures and notifications").click();
        await page.getByLabel("Timeout", { exact: true }).fill("soon");
        await page.locator("#f-grace").fill("later");
        await page.getByText("Owner and retention").click();
        await page.locator("#f-retention-age").fill("old");
        await page.getByRole("button", { name: "Review and save" }).click();
        await page.getByText("3 errors to fix.").waitFor();
        await page.locator(".wrong-list").getByRole("button", { name: /^grace/ }).click();
        expect(await page.evaluate(() => document.activeElement?.id)).toBe("f-grace");
        await page.locator("#f-grace").fill("5s");
        await page.getByText("2 errors to fix.").waitFor();
        expect(await page.locator("#f-grace").getAttribute("aria-invalid")).toBe("false");
        await page.getByRole("link", { name: "Cancel" }).click();
        await page.getByRole("button", { name: "Discard changes" }).click();
        await page.waitForURL(/\/jobs\/billing%2Fclose-day$/);
        await page.context().close();
    });

    test("offers labels, owners, channels and labels of nodes that there are", async () => {
        const { world } = holder;
        await world.agent.api("PUT", "/channels/ops", { type: "webhook", url: "http://127.0.0.1:9/x" });
        await world.agent.api("PUT", "/jobs/labelled", { schedule: "@daily", timezone: "UTC", command: ["true"], owner: "ann@example.org", labels: { team: "search" } });
        const page = await world.page();
        await page.goto("/#/jobs/clock/edit");
        await page.getByText("Overlap, failures and notifications").click();
        await page.getByText("Owner and retention").click();
        await page.getByRole("button", { name: "team=search" }).click();
        await page.getByRole("button", { name: "ann@example.org" }).click();
        await page.getByRole("checkbox", { name: "ops" }).check();
        await page.locator("#f-where").fill("gpu");
        await page.getByText("No node matches: no run could start.").waitFor();
        await page.locator("#f-where").fill("!gpu");
        await page.getByText("1 of 1 nodes match.").waitFor();
        const dialog = await review(page);
        await dialog.getByRole("button", { name: "Save" }).click();
        await page.getByRole("heading", { name: "clock", exact: true }).waitFor();
        const saved = (await world.agent.api("GET", "/jobs/clock")).body;
        expect([saved.labels.team, saved.owner, saved.notify, saved.where]).toEqual(["search", "ann@example.org", "ops", "!gpu"]);
        await page.context().close();
    });
});

describe("a crontab", () => {
    test("becomes jobs, without those that would replace others", async () => {
        const { world } = holder;
        await world.agent.api("PUT", "/jobs/cron%2Fcerts", { schedule: "@daily", timezone: "UTC", command: ["true"] });
        const page = await world.page();
        await page.goto("/#/import");
        await page.getByRole("textbox", { name: /^Crontab/ }).fill("30 2 * * * /opt/backup --full\n0 99 * * * broken\n@daily /opt/certs renew\n");
        await page.getByLabel("Folder").fill("cron");
        await page.getByText("cron/backup", { exact: true }).waitFor();
        await page.getByText("Not imported").waitFor();
        await page.getByText("replaces a job of this name").waitFor();
        await page.getByRole("button", { name: "Create 1 job" }).click();
        await page.getByRole("heading", { name: "Jobs" }).waitFor();
        await page.getByText("cron/backup").first().waitFor();
        expect((await world.agent.api("GET", "/jobs/cron%2Fbackup")).body.schedule).toBe("30 2 * * *");
        expect((await world.agent.api("GET", "/jobs/cron%2Fcerts")).body.command).toEqual(["true"]);
        await page.context().close();
    });
});
