// What guards jobs: windows of calendars, groups, maintenance.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { axeSource, until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const folder = process.env.PEAL_SCREENSHOTS ?? "/tmp";
const holder = useWorld({
    jobs: [
        { name: "sync", schedule: "0 */3 * * *", timezone: "UTC", command: ["true"] },
        { name: "settle", schedule: "0 18 * * *", timezone: "UTC", command: ["true"] },
        { name: "dump/orders", schedule: "@manual", command: ["sleep", "1000"], overlap: "allow" },
        { name: "dump/users", schedule: "@manual", command: ["sleep", "1000"], overlap: "allow" },
    ],
});

// In both themes, from a phone to a large screen: nothing that axe calls serious, and no sideways scrolling.
async function look(page, name) {
    for (const [theme, width] of [
        ["light", 1440],
        ["dark", 1440],
        ["light", 390],
        ["dark", 390],
    ]) {
        await page.setViewportSize({ width, height: 900 });
        await page.evaluate((chosen) => (document.documentElement.dataset.theme = chosen), theme);
        await page.screenshot({ path: join(folder, `${name}-${theme}-${width}.png`), fullPage: true });
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${name} at ${width}`).toBeLessThanOrEqual(0);
        await page.evaluate(axeSource());
        const found = await page.evaluate(() => window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] }));
        const bad = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        expect(bad.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target)}`), `${name} ${theme} ${width}`).toEqual([]);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
}

async function inChinese(page) {
    await page.evaluate(() => localStorage.setItem("peal.language", "zh"));
    await page.reload();
}

describe("what guards a job", () => {
    test("a calendar with windows, day by day, and the ticks that it takes out", async () => {
        const { api } = holder.world.agent;
        const page = await holder.world.page();
        await page.goto("/#/settings?tab=calendars");
        await page.getByRole("button", { name: "Add a calendar…" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("office");
        await dialog.getByRole("textbox", { name: /^Dates/ }).fill("2026-12-25");
        await dialog.getByRole("textbox", { name: /^Windows/ }).fill("mon-fri 9-17");
        await dialog.getByRole("button", { name: "Add" }).click();
        await dialog.getByRole("alert").filter({ hasText: "not a window" }).waitFor();
        await dialog.getByRole("textbox", { name: /^Windows/ }).fill("mon-fri 09:00-17:30\n2026-12-24 12:00-24:00\n");
        await dialog.getByRole("textbox", { name: /^Time zone/ }).fill("Europe/Berlin");
        await dialog.getByRole("button", { name: "Add" }).click();
        await page.getByRole("row", { name: /office/ }).waitFor();
        expect((await api("GET", "/calendars/office")).body).toMatchObject({
            windows: ["mon-fri 09:00-17:30", "2026-12-24 12:00-24:00"],
            timezone: "Europe/Berlin",
        });
        await api("PATCH", "/jobs/sync", { calendars: ["office"] });
        await api("PATCH", "/jobs/settle", { only_on: ["office"] });
        await page.getByRole("link", { name: "office" }).click();
        const month = page.locator("table.month");
        await month.waitFor();
        const label = page.locator(".year-head [role=status]");
        for (const now = new Date(); (await label.innerText()) !== "December 2026"; ) {
            const later = Date.UTC(2026, 11) > now.getTime();
            await page.getByTitle(later ? "Later" : "Earlier").click();
        }
        // Friday the 25th is out as a whole; on Thursday two windows meet; three ticks of `sync` are in the first.
        await month.getByRole("cell", { name: /^25 whole day/ }).waitFor();
        await month.getByRole("cell", { name: /^24 09:00–17:30 17:30–24:00/ }).waitFor();
        await month.getByRole("cell", { name: /^1 09:00–17:30 −4/ }).waitFor(); // three of `sync`, and the one of `settle`
        await page.getByRole("listitem").filter({ hasText: /^settle.*ticks skipped/ }).waitFor();
        await look(page, "calendar-month");
        await page.getByRole("button", { name: "Year", exact: true }).click();
        await until("a year", async () => (await page.locator(".year rect").count()) === 365);
        await until("the windows of the year", async () => (await page.locator(".year rect.is-part").count()) > 250);
        expect(await page.locator(".year rect.is-out").count()).toBe(1);
        await look(page, "calendar-year");
        await inChinese(page);
        await month.waitFor();
        await look(page, "calendar-zh");
        await api("PUT", "/calendars/early", { windows: ["05:00-07:00"] });
        await api("PATCH", "/jobs/sync", { calendars: ["early"] });
        await page.goto("/#/jobs/sync");
        await page.getByText(/early.* · 05:00-07:00/).waitFor();
        await page.context().close();
    });

    test("make a group, see who has its slots and who waits, and raise its limit", async () => {
        const { api } = holder.world.agent;
        const page = await holder.world.page();
        await page.goto("/#/settings?tab=groups");
        await page.getByRole("button", { name: "Add a group…" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("db-backup");
        await dialog.getByRole("button", { name: "Add" }).click();
        await dialog.getByRole("alert").waitFor(); // without a limit
        await dialog.getByRole("spinbutton", { name: "Limit on all nodes together" }).fill("1");
        await dialog.getByRole("textbox", { name: "Limits by label of the nodes" }).fill("zone");
        await dialog.getByRole("button", { name: "Add" }).click();
        await dialog.getByRole("alert").waitFor(); // without a number
        await dialog.getByRole("textbox", { name: "Limits by label of the nodes" }).fill("zone=5, zone=eu:4");
        await dialog.getByRole("button", { name: "Add" }).click();
        await page.getByRole("heading", { name: "db-backup" }).waitFor();
        await api("PATCH", "/jobs/dump%2Forders", { groups: ["db-backup"] });
        await api("PATCH", "/jobs/dump%2Fusers", { groups: ["db-backup"], priority: 5 });
        await holder.world.run("dump/orders");
        await api("POST", "/jobs/dump%2Forders/run");
        await api("POST", "/jobs/dump%2Fusers/run");
        const line = page.getByRole("region", { name: "Waiting" });
        await line.getByRole("row", { name: /^1 dump\/users .* 5 no slot is free/ }).waitFor();
        await line.getByRole("row", { name: /^2 dump\/orders .* 0 no slot is free/ }).waitFor();
        await page.getByRole("region", { name: "Under way" }).getByRole("link", { name: "dump/orders" }).waitFor();
        await look(page, "groups");
        await page.getByRole("button", { name: "Edit…" }).click();
        await dialog.getByRole("spinbutton", { name: "Limit on all nodes together" }).fill("3");
        await dialog.getByRole("button", { name: "Save" }).click();
        await line.waitFor({ state: "detached" });
        expect((await api("GET", "/groups/db-backup")).body).toMatchObject({ cluster: 3, labels: { zone: 5, "zone=eu": 4 } });
        await page.getByRole("button", { name: "Delete db-backup?" }).click();
        await dialog.getByRole("button", { name: "Delete" }).click();
        await dialog.getByRole("alert").filter({ hasText: "in use" }).waitFor();
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await inChinese(page);
        await page.getByText("进行中").first().waitFor();
        await look(page, "groups-zh");
        for (const run of (await api("GET", "/groups/db-backup")).body.holders) await api("POST", `/runs/${run.run_id}/kill`);
        await page.context().close();
    });

    test("start maintenance of the cluster and plan that of a namespace; a banner says what is on", async () => {
        const { api } = holder.world.agent;
        const page = await holder.world.page();
        await page.goto("/#/settings?tab=maintenance");
        await page.getByRole("button", { name: "Start maintenance…" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByLabel(/^Reason/).fill("new disks");
        await dialog.getByRole("button", { name: "Add" }).click();
        const banner = page.locator("main > .note");
        await banner.filter({ hasText: /The cluster is in maintenance.*until.*new disks/ }).waitFor();
        await page.getByRole("row", { name: /The whole cluster now/ }).waitFor();
        await page.getByRole("button", { name: "Start maintenance…" }).click();
        await dialog.getByLabel(/^Namespace/).fill("dump");
        await dialog.getByLabel(/^From/).fill("2096-01-02T03:04");
        await dialog.getByRole("combobox").selectOption("1d");
        await dialog.getByRole("button", { name: "Add" }).click();
        await page.getByRole("row", { name: /^dump\/ to come/ }).waitFor();
        const planned = (await api("GET", "/maintenance")).body.items.find((item) => item.namespace === "dump");
        expect(planned).toMatchObject({ from: "2096-01-02T02:04:00.000Z", to: "2096-01-03T02:04:00.000Z" }); // the browser is in Berlin
        await look(page, "maintenance");
        await page.goto("/#/jobs");
        await banner.waitFor();
        await page.goto("/#/");
        expect(await page.getByText("The cluster is in maintenance").count()).toBe(1);
        await banner.getByRole("link").click();
        await page.getByRole("row", { name: /The whole cluster now/ }).getByRole("button", { name: "End" }).click();
        await dialog.getByRole("button", { name: "End" }).click();
        await banner.waitFor({ state: "detached" });
        await page.getByRole("row", { name: /The whole cluster over/ }).waitFor();
        await page.getByRole("row", { name: /^dump\// }).getByRole("button", { name: "End" }).click();
        await dialog.getByRole("button", { name: "End" }).click();
        await until("nothing is planned", async () => !(await api("GET", "/maintenance")).body.items.some((item) => item.namespace === "dump"));
        await api("POST", "/maintenance", { reason: "换磁盘" });
        await inChinese(page);
        await banner.filter({ hasText: "集群已暂停" }).waitFor();
        await look(page, "maintenance-zh");
        await page.context().close();
    });
});
