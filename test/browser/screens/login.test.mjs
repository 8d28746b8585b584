// Who comes in, how, and what they then may do: all of it on the agent's own port.
import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();
const PASSWORD = "correct horse";

async function logInAs(page, name, password) {
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Log in" }).click();
}

async function addUser(name, scope) {
    const answer = await holder.world.agent.api("POST", "/users", { name, password: PASSWORD, ...scope });
    expect(answer.status).toBe(201);
}

// Where there is something to do for those who may, and what tells that it is there.
const places = [
    ["#/", ".bars"],
    ["#/jobs", ".primary-cell"],
    ["#/jobs/flaky", ".fires li"],
    ["#/jobs/flaky?tab=versions", ".version-row"],
    ["#/runs", ".primary-cell"],
    ["#/timeline", ".timeline-area"],
    ["#/nodes", ".nodes-table tbody tr"],
    ["#/settings", ".choice"],
    ["#/settings?tab=users", ".choice"],
];

describe("logging in", () => {
    test("starts with the setup link, which makes the first account and logs it in", async () => {
        const { world } = holder;
        const page = await world.page({ as: null });
        await page.goto(`${world.url}/#/jobs`);
        await page.getByText("There is no account yet").waitFor();
        await page.goto(world.agent.setupLink());
        await page.getByLabel("Name").fill("ann");
        await page.getByLabel("Password", { exact: true }).fill("short");
        await page.getByLabel("Repeat password").fill("other");
        await page.getByText("The passwords differ.").waitFor();
        expect(await page.getByRole("button", { name: "Create account" }).isDisabled()).toBe(true);
        await page.getByLabel("Repeat password").fill("short");
        await page.getByRole("button", { name: "Create account" }).click();
        expect(await page.getByLabel("Password", { exact: true }).evaluate((input) => input.validity.tooShort)).toBe(true);
        await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
        await page.getByLabel("Repeat password").fill(PASSWORD);
        await page.getByRole("button", { name: "Create account" }).click();
        await page.getByRole("heading", { name: "Overview" }).waitFor();
        await page.getByRole("button", { name: "Preferences" }).click();
        await page.getByText("ann · admin").waitFor();
        expect((await world.agent.api("GET", "/users/ann")).body.role).toBe("admin");
        await page.context().close();
    });

    test("by a password leads to where one wanted to go; logging out ends it", async () => {
        const page = await holder.world.page({ as: null });
        await page.goto("/#/jobs/flaky?tab=definition");
        await logInAs(page, "ann", "wrong horse");
        await page.getByText("the name or the password is wrong").waitFor();
        await logInAs(page, "ann", PASSWORD);
        await page.locator(".definition").waitFor();
        expect(page.url()).toContain("#/jobs/flaky?tab=definition");
        expect(await page.evaluate(() => document.cookie)).toBe(""); // no script reads it
        await page.getByRole("button", { name: "Preferences" }).click();
        await page.getByRole("button", { name: "Log out" }).click();
        await page.getByRole("button", { name: "Log in" }).waitFor();
        await page.reload();
        await page.getByRole("button", { name: "Log in" }).waitFor();
        await page.context().close();
    });

    test("that was wrong too often has to wait, and the screen says how long", async () => {
        const page = await holder.world.page({ as: null });
        await page.goto("/#/login");
        const answers = [];
        page.on("response", (answer) => (answer.url().endsWith("/login") ? answers.push(answer.status()) : undefined));
        while (!answers.includes(429)) {
            const count = answers.length;
            expect(count).toBeLessThan(10);
            await logInAs(page, "nobody", `guess ${count}`);
            await until("an answer", () => answers.length > count);
        }
        await page.getByText(/too many wrong logins; try again in \d+ s/).waitFor();
        await page.context().close();
    });

    test("by a link that `peal link` prints works once", async () => {
        const { world } = holder;
        const [link] = (await world.agent.peal("link")).trim().split("\n");
        const page = await world.page({ as: null });
        await page.goto(link);
        await page.getByRole("heading", { name: "Overview" }).waitFor();
        expect(page.url()).not.toContain("login");
        await page.context().close();
        const other = await world.page({ as: null });
        await other.goto(link);
        await other.getByText("peal link makes a new one").waitFor();
        await other.context().close();
    });

    test("is asked for when a session ends, in all tabs, and what was looked at is there again", async () => {
        const { world } = holder;
        await addUser("gus", { role: "viewer" });
        const context = await world.context({ as: "gus" });
        const pages = [await context.newPage(), await context.newPage()];
        await pages[0].goto("/#/runs?state=failed");
        await pages[1].goto("/#/jobs?q=flak");
        for (const page of pages) await page.getByRole("heading", { level: 1 }).waitFor();
        await world.agent.api("PATCH", "/users/gus", { password: "another horse" }); // ends their sessions
        await world.run("colours", true); // which they hear of
        for (const page of pages) await page.getByRole("button", { name: "Log in" }).waitFor();
        await logInAs(pages[0], "gus", "another horse");
        await pages[0].getByRole("heading", { name: "Runs" }).waitFor();
        expect(await pages[0].getByLabel("State", { exact: true }).inputValue()).toBe("failed");
        await pages[1].getByRole("heading", { name: "Jobs" }).waitFor();
        expect(pages[1].url()).toContain("q=flak");
        await context.close();
    });

    test("with a new password, by oneself", async () => {
        const { world } = holder;
        await addUser("hal", { role: "viewer" });
        const page = await world.page({ as: "hal" });
        await page.goto("/#/settings");
        await page.getByLabel("Old password").fill(PASSWORD);
        await page.getByLabel("New password", { exact: true }).fill("a new horse");
        await page.getByLabel("Repeat new password").fill("a new horse");
        await page.getByRole("button", { name: "Change password" }).click();
        await page.getByText("Password changed").waitFor();
        await page.getByRole("link", { name: "Jobs" }).click(); // still logged in
        await page.getByRole("link", { name: "flaky" }).waitFor();
        await page.context().close();
    });
});

describe("a viewer", () => {
    test("is offered nothing that changes anything", async () => {
        const { world } = holder;
        await addUser("vic", { role: "viewer" });
        const id = await world.run("colours", true);
        const page = await world.page({ as: "vic" });
        for (const [address, sign] of [...places, [`#/runs/${id}`, ".log-row"]]) {
            await page.goto(`/${address}`);
            await page.locator(sign).first().waitFor();
            const offered = page.locator("a, button").filter({ hasText: /Run (now|again)|Pause|Kill|Edit|New job|Delete|Drain|Add a user|Roll back/ });
            expect([address, await offered.allInnerTexts()]).toEqual([address, []]);
            expect(await page.getByRole("button", { name: /^Actions/ }).count()).toBe(0);
            expect(await page.getByRole("checkbox", { name: /Select/ }).count()).toBe(0);
        }
        await page.goto("/#/jobs/flaky/edit");
        await page.getByText("You may view").waitFor();
        expect(await page.getByLabel("Schedule", { exact: true }).isDisabled()).toBe(true);
        expect(await page.getByRole("button", { name: "Review and save" }).count()).toBe(0);
        await page.context().close();
    });
});

describe("an editor of one namespace", () => {
    test("edits its jobs, and sees no other", async () => {
        const { world } = holder;
        await addUser("eve", { namespaces: [{ namespace: "billing", role: "editor" }], role: "none" });
        const page = await world.page({ as: "eve" });
        await page.goto("/#/jobs");
        await page.getByRole("link", { name: "billing/close-day" }).waitFor();
        expect(await page.locator("[data-row]").allInnerTexts()).toEqual(["billing/close-day"]);
        await page.getByRole("button", { name: "Actions for billing/close-day" }).waitFor();
        await page.goto("/#/jobs/billing%2Fclose-day/edit");
        await page.getByLabel("Schedule", { exact: true }).fill("30 1 * * *");
        await page.getByRole("button", { name: "Review and save" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
        await page.getByRole("heading", { name: "billing/close-day", exact: true }).waitFor(); // not that of the editor
        expect((await world.agent.api("GET", "/jobs/billing%2Fclose-day")).body.schedule).toBe("30 1 * * *");
        await page.context().close();
    });

    test("makes jobs there, and is told of the others while the name is typed", async () => {
        const { world } = holder;
        const page = await world.page({ as: "eve" });
        await page.goto("/#/new");
        expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("billing/");
        await page.getByLabel("Name", { exact: true }).fill("elsewhere");
        await page.getByText("You may create jobs only in billing/").waitFor();
        expect(await page.getByRole("button", { name: "Review and save" }).isDisabled()).toBe(true);
        await page.getByLabel("Name", { exact: true }).fill("billing/mail");
        await page.getByLabel("Program and arguments").fill("true");
        await page.getByLabel("Schedule", { exact: true }).fill("@daily");
        await page.getByRole("button", { name: "Review and save" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
        await page.getByRole("heading", { name: "billing/mail" }).waitFor();
        await page.context().close();
    });

    test("who looks at the others, too, changes nothing of them", async () => {
        const { world } = holder;
        await addUser("eli", { namespaces: [{ namespace: "billing", role: "editor" }], role: "viewer" });
        const page = await world.page({ as: "eli" });
        await page.goto("/#/jobs");
        await page.getByRole("button", { name: "Actions for billing/close-day" }).waitFor();
        expect(await page.getByRole("button", { name: /^Actions for/ }).count()).toBe(await page.getByRole("link", { name: /^billing\/[a-z]/ }).count());
        await page.goto("/#/jobs/flaky/edit");
        await page.getByText("You may view").waitFor();
        await page.goto("/#/jobs/billing%2Fclose-day/edit");
        await page.getByRole("button", { name: "Review and save" }).waitFor();
        expect(await page.getByLabel("Schedule", { exact: true }).isEnabled()).toBe(true);
        await page.context().close();
    });
});
