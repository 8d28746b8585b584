import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

async function openTab(tab) {
    const page = await holder.world.page();
    await page.goto(`/#/settings?tab=${tab}`);
    return page;
}

describe("settings", () => {
    test("make, change and delete a user; what is wrong is said in the dialog", async () => {
        const { api } = holder.world.agent;
        const page = await openTab("users");
        await page.getByRole("button", { name: "Add a user…" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("grace hopper");
        await dialog.getByRole("combobox", { name: /^Role/ }).selectOption("operator");
        await dialog.getByLabel(/^Password/).fill("correct horse");
        await dialog.getByRole("button", { name: "Add" }).click();
        await dialog.getByRole("alert").waitFor();
        await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("grace");
        await dialog.getByRole("button", { name: "Add" }).click();
        await page.getByRole("row", { name: /grace operator/ }).waitFor();
        await page.getByRole("button", { name: "Actions for grace" }).click();
        await page.getByRole("menuitem", { name: "Edit…" }).click();
        await dialog.getByRole("combobox", { name: /^Role/ }).selectOption("none");
        await dialog.getByRole("textbox", { name: "Namespaces" }).fill("billing=editor");
        await dialog.getByRole("button", { name: "Save" }).click();
        await page.getByText("billing: editor").waitFor();
        expect((await api("GET", "/users/grace")).body.role).toBe("none");
        await page.getByRole("button", { name: "Actions for grace" }).click();
        await page.getByRole("menuitem", { name: "Delete…" }).click();
        await dialog.getByRole("button", { name: "Delete" }).click();
        await until("no such user", async () => (await api("GET", "/users/grace")).status === 404);
        await page.context().close();
    });

    test("show a new token once, and revoke it", async () => {
        const { api } = holder.world.agent;
        const page = await openTab("tokens");
        await page.getByRole("button", { name: "Create a token…" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByLabel("Purpose").fill("deploys");
        await dialog.getByRole("combobox", { name: /^Role/ }).selectOption("operator");
        await dialog.getByRole("button", { name: "Create" }).click();
        expect(await dialog.locator(".made-token code").innerText()).toMatch(/^peal_[\w-]+$/);
        await dialog.getByRole("button", { name: "Close" }).click();
        const row = page.getByRole("row", { name: /deploys/ });
        await row.waitFor();
        expect(await page.content()).not.toContain("peal_");
        await row.getByRole("button", { name: "Revoke…" }).click();
        await dialog.getByRole("button", { name: "Revoke" }).click();
        await until("no token", async () => (await api("GET", "/tokens")).body.items.length === 0);
        await page.context().close();
    });

    test("make, try and delete a channel, whose secrets are not shown", async () => {
        const { api } = holder.world.agent;
        const page = await openTab("channels");
        await page.getByRole("button", { name: "Add a channel…" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("ops");
        await dialog.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:1/?token=hush-1");
        await dialog.getByLabel("Signing secret").fill("hush-2");
        await dialog.getByRole("button", { name: "Send a test" }).click();
        await page.getByText(/^Not delivered: /).waitFor();
        await dialog.getByRole("textbox", { name: /^Minimum interval/ }).fill("often");
        await dialog.getByRole("button", { name: "Add", exact: true }).click();
        await dialog.getByRole("alert").waitFor();
        await dialog.getByRole("textbox", { name: /^Minimum interval/ }).fill("10m");
        await dialog.getByRole("checkbox", { name: "late or missed" }).check();
        await dialog.getByText("Title and text of the messages").click();
        await dialog.getByRole("textbox", { name: "Title" }).fill("${jobb} is down");
        await dialog.getByText("there is no field ${jobb}; did you mean ${job}?").waitFor();
        await dialog.getByRole("textbox", { name: "Title" }).fill("");
        await dialog.getByRole("button", { name: "event", exact: true }).click();
        await dialog.getByRole("combobox", { name: /^Preview/ }).selectOption("lost");
        await dialog.locator(".message").getByText("[test] lost", { exact: true }).waitFor();
        await dialog.getByRole("button", { name: "Add", exact: true }).click();
        await page.getByRole("row", { name: /ops webhook nothing sent yet/ }).waitFor();
        expect(await page.content()).not.toContain("hush");
        expect((await api("GET", "/channels/ops")).body).toMatchObject({ quiet: "10m", title: "${event}", on: ["failure", "lost", "recovery", "late"] });

        await api("PUT", "/jobs/told", { schedule: "@manual", command: ["true"] });
        await page.goto("/#/jobs/told/edit");
        await page.getByText("Overlap, failures and notifications").click();
        await page.locator("#f-notify-to").getByRole("checkbox", { name: "ops" }).check();
        await page.getByRole("button", { name: "Review and save" }).click();
        await dialog.getByRole("button", { name: "Save" }).click();
        await until("it is named", async () => (await api("GET", "/jobs/told")).body.notify === "ops");
        await page.waitForURL(/#\/jobs\/told$/);

        await page.goto("/#/settings?tab=channels");
        await page.getByRole("button", { name: "Actions for ops" }).click();
        await page.getByRole("menuitem", { name: "Delete…" }).click();
        await dialog.getByRole("button", { name: "Delete" }).click();
        await dialog.getByText(/is named by told/).waitFor();
        await api("DELETE", "/jobs/told");
        await dialog.getByRole("button", { name: "Delete" }).click();
        await until("no such channel", async () => (await api("GET", "/channels/ops")).status === 404);
        await page.context().close();
    });

    test("tell who changed what, with the difference", async () => {
        const { api } = holder.world.agent;
        await api("PATCH", "/jobs/flaky", { owner: "somebody@example.org" });
        const page = await openTab("audit&job=flaky");
        const change = page.getByRole("listitem").filter({ hasText: "changed" }).first();
        await change.getByRole("button", { name: "Changes" }).click();
        await change.getByText("+ owner: somebody@example.org").waitFor();
        await change.getByText("- owner: platform@example.org").waitFor();
        await api("DELETE", "/jobs/flaky");
        await page.reload();
        const deleted = page.getByRole("listitem").filter({ hasText: "deleted" }).first();
        await deleted.waitFor();
        expect(await deleted.getByRole("button").count()).toBe(0); // it can be brought back: nothing has changed
        await api("POST", "/jobs/flaky/undelete");
        await page.context().close();
    });

    test("tell what this is", async () => {
        const page = await openTab("about");
        await page.getByText(/^peal \d+\.\d+/).waitFor();
        await page.getByText(/^run as .*, who can read the agent's files$/).waitFor(); // as the tests' own user
        await page.context().close();
    });
});
