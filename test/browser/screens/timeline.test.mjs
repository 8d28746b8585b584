import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("the timeline", () => {
    test("shows what ran and what comes, moves and zooms by keys, and leads to a run", async () => {
        const { world } = holder;
        await world.run("colours", true);
        const page = await world.page();
        await page.goto("/#/timeline");
        await page.locator(".mark-ok[data-href]").first().waitFor();
        expect(await page.locator(".mark-tick, .rate-ticks").count()).toBeGreaterThan(1);
        expect(await page.getByRole("img", { name: /coming ticks of \d+ jobs/ }).count()).toBe(1);
        await page.locator(".timeline-area").focus();
        await page.keyboard.press("-");
        await until("six hours", async () => page.url().includes("span=quarter"));
        await page.keyboard.press("ArrowLeft");
        await until("an earlier time", async () => page.url().includes("at="));
        await page.keyboard.press("0");
        await until("now", async () => !page.url().includes("at="));
        await page.goto("/#/timeline?job=colours");
        await page.locator(".mark-ok[data-href]").first().click();
        await page.getByRole("heading", { name: /colours/ }).waitFor();
        await page.context().close();
    });

    test("is a table, too", async () => {
        const page = await holder.world.page();
        await page.goto("/#/timeline");
        await page.getByText("Table", { exact: true }).click();
        await page.getByRole("row", { name: /Upcoming clock/ }).first().waitFor();
        expect(await page.locator("th").allInnerTexts()).toContain("Job");
        await page.context().close();
    });

    test("warns of a second in which many jobs start", async () => {
        const { world } = holder;
        const put = [1, 2, 3, 4, 5].map((n) => ({ name: `herd/${n}`, schedule: "0 * * * *", timezone: "UTC", command: ["true"] }));
        await world.agent.api("POST", "/jobs:batch", { put });
        const page = await world.page();
        await page.goto("/#/timeline?span=quarter");
        await page.getByText("compete for CPU").waitFor();
        await page.locator(".herd-names").getByRole("link", { name: "herd/1" }).first().click();
        await page.getByRole("heading", { name: "Edit herd/1" }).waitFor();
        await page.context().close();
    });

    test("has rows of folders and labels, tells of marks, and zooms where one drags", async () => {
        const { world } = holder;
        await world.agent.api("PUT", "/jobs/etl%2Fa", { schedule: "* * * * *", timezone: "UTC", command: ["true"], labels: { team: "x" } });
        await world.agent.api("PUT", "/jobs/etl%2Fb", { schedule: "*/5 * * * *", timezone: "UTC", command: ["true"], labels: { team: "y" } });
        const page = await world.page();
        await page.goto("/#/timeline?span=week");
        await page.locator(".timeline-jobs").getByText("etl/a").waitFor();
        await page.locator(".rate-ticks").first().waitFor(); // too many to be told apart
        await page.getByLabel("Rows").selectOption("folder");
        await page.locator(".timeline-jobs li", { hasText: "etl/ 2" }).waitFor();
        await page.locator(".rate-ticks").last().hover();
        await page.locator(".timeline-tip", { hasText: "upcoming" }).waitFor();
        await page.getByLabel("Rows").selectOption("label:team");
        await page.locator(".timeline-jobs").getByText("team=x").waitFor();
        const box = await page.locator(".timeline-area svg").boundingBox();
        await page.mouse.move(box.x + box.width * 0.6, box.y + 60);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 5 });
        await page.mouse.up();
        await until("a closer look", async () => page.url().includes("from="));
        const query = new URLSearchParams(page.url().split("?")[1]);
        const hours = (Date.parse(query.get("to")) - Date.parse(query.get("from"))) / 3_600_000;
        expect(hours).toBeGreaterThan(15);
        expect(hours).toBeLessThan(19);
        await page.locator(".timeline-area").focus();
        await page.keyboard.press("0");
        await until("now", async () => !page.url().includes("from="));
        await page.context().close();
    });

    test("shows the coming week, day by day", async () => {
        const page = await holder.world.page();
        await page.goto("/#/timeline?view=week");
        expect(await until("seven days", async () => (await page.locator(".week-day").count()) === 7)).toBe(true);
        await page.locator(".week-day").nth(1).locator("summary").click();
        // of etl/a, every minute, the first 1000 are counted: early in the day they do not reach tomorrow
        await page.locator(".week-day").nth(1).getByRole("link", { name: "etl/b" }).waitFor();
        await page.context().close();
    });

    test("applies what peal herd proposes, and takes it back", async () => {
        const { world } = holder;
        const put = [1, 2, 3, 4, 5, 6].map((n) => ({ name: `peak/${n}`, schedule: "0 4 * * *", timezone: "UTC", command: ["true"] }));
        await world.agent.api("POST", "/jobs:batch", { put });
        const page = await world.page();
        await page.goto("/#/timeline");
        const row = page.locator(".herd-plan tr", { hasText: "peak/" }).first();
        const name = await row.locator("a").innerText();
        await row.getByRole("button", { name: "Apply" }).click();
        const path = `/jobs/${encodeURIComponent(name)}`;
        const changed = (job) => job.schedule !== "0 4 * * *" || job.jitter !== undefined;
        await until("the change", async () => changed((await world.agent.api("GET", path)).body));
        await page.getByRole("button", { name: "Undo" }).click();
        await until("the schedule before", async () => !changed((await world.agent.api("GET", path)).body));
        await page.context().close();
    });
});
