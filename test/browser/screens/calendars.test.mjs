import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("calendars", () => {
    test("make one, let a job go by it, and delete it once no job does", async () => {
        const { api } = holder.world.agent;
        const page = await holder.world.page();
        await page.goto("/#/settings?tab=calendars");
        await page.getByRole("button", { name: "Add a calendar…" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("holidays");
        await dialog.getByRole("textbox", { name: /^Dates/ }).fill("2026-02-30");
        await dialog.getByRole("button", { name: "Add" }).click();
        await dialog.getByRole("alert").waitFor(); // the dialog stays, and says what is wrong
        await dialog.getByRole("textbox", { name: /^Dates/ }).fill("12-24/12-26\n");
        await dialog.getByText("3 days excluded").waitFor();
        await dialog.getByRole("checkbox", { name: "Sat" }).check();
        await dialog.getByRole("button", { name: "Add" }).click();
        await page.getByRole("row", { name: /holidays Sat, 12-24\/12-26/ }).waitFor();
        expect((await api("GET", "/calendars/holidays")).body).toMatchObject({ dates: ["12-24/12-26"], weekdays: ["sat"] });

        await page.goto("/#/jobs/flaky/edit");
        await page.getByRole("group", { name: "Calendars", exact: true }).getByRole("checkbox", { name: "holidays" }).check();
        await page.getByRole("button", { name: "Review and save" }).click();
        await dialog.getByRole("button", { name: "Save" }).click();
        await until("the job names it", async () => (await api("GET", "/jobs/flaky")).body.calendars?.[0] === "holidays");
        await page.goto("/#/jobs/flaky");
        await page.getByRole("link", { name: "holidays" }).waitFor();

        // The dates without runs, or the only ones with runs: the times that are shown go by both.
        await page.goto("/#/new");
        await page.getByLabel("Schedule", { exact: true }).fill("0 9 24 12 *");
        await page.getByRole("group", { name: "Only on", exact: true }).getByRole("checkbox", { name: "holidays" }).check();
        await page.locator(".fires-next").getByText(/-12-24 09:00:00/).first().waitFor();
        await page.getByRole("group", { name: "Calendars", exact: true }).getByRole("checkbox", { name: "holidays" }).check();
        await page.getByText("The schedule has no upcoming run.").waitFor();
        await page.getByRole("link", { name: "Cancel" }).click();
        await page.getByRole("button", { name: "Discard changes" }).click();
        await page.goto("/#/settings?tab=calendars");
        await page.getByRole("row", { name: /holidays/ }).waitFor();
        await api("PUT", "/calendars/closed", { weekdays: ["sun"] }); // by somebody else
        await page.getByRole("row", { name: /closed Sun/ }).waitFor();
        await api("DELETE", "/calendars/closed");
        await page.getByRole("row", { name: /closed Sun/ }).waitFor({ state: "detached" });
        await page.getByRole("button", { name: "Delete holidays?" }).click();
        await dialog.getByRole("button", { name: "Delete" }).click();
        await dialog.getByRole("alert").filter({ hasText: "in use by flaky" }).waitFor();
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await api("PATCH", "/jobs/flaky", { calendars: null });
        await page.getByRole("button", { name: "Delete holidays?" }).click();
        await dialog.getByRole("button", { name: "Delete" }).click();
        await until("no calendar", async () => (await api("GET", "/calendars/holidays")).status === 404);
        await page.context().close();
    });
});
