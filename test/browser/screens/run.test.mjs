import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { until } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();

describe("a run", () => {
    test("shows what it did, and its output in colours", async () => {
        const { world } = holder;
        const id = await world.run("colours", true);
        const page = await world.page();
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: "bold green" }).waitFor();
        expect(await page.locator(".fg-1").first().innerText()).toBe("red");
        expect(await page.locator(".fg-3").allInnerTexts()).toEqual(["warning: disk is at 91%", "  and still yellow on the next line"]);
        expect(await page.locator(".is-stderr").innerText()).toContain("something went wrong");
        await page.getByRole("button", { name: "Details" }).click();
        expect(await page.locator(".facts").innerText()).toMatch(/code 0/);
        await page.context().close();
    });

    test("is followed while it runs, and killed", async () => {
        const { world } = holder;
        const id = await world.run("long");
        const page = await world.page();
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: /step 1\d\d of/ }).first().waitFor(); // more than fits: it follows
        await page.getByRole("log").focus();
        await page.keyboard.press("Home");
        await page.locator(".log-row", { hasText: "step 1 of" }).waitFor();
        expect(await page.getByRole("button", { name: "Follow" }).getAttribute("aria-pressed")).toBe("false");
        await page.getByRole("button", { name: /new lines?$/ }).click();
        await until("it to be followed", async () => (await page.getByRole("button", { name: "Follow" }).getAttribute("aria-pressed")) === "true");
        await page.getByRole("button", { name: "Kill" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Kill" }).click();
        await page.locator(".status-big", { hasText: "Killed" }).waitFor();
        await page.locator(".run-line", { hasText: "killed by" }).waitFor();
        await page.getByRole("button", { name: "Run again" }).click();
        await page.locator(".status-big", { hasText: "Running" }).waitFor();
        expect(page.url()).not.toContain(id);
        await page.context().close();
    });

    test("that was watched while it waited shows its output, however soon it has ended", async () => {
        const { world } = holder;
        const shell = `mkdir ${world.agent.data}/first 2>/dev/null && sleep 2; echo "at last: $(ls -d ${world.agent.data}/first)"`;
        await world.agent.api("PUT", "/jobs/queued", { schedule: "@manual", overlap: "queue", shell });
        await world.run("queued");
        const { run_id: id } = (await world.agent.api("POST", "/jobs/queued/run")).body;
        const page = await world.page();
        // It hears of the end before it hears of any output.
        await page.route("**/api/v1/events**", (route) => route.abort());
        await page.route(`**/api/v1/runs/${id}/log?offset=65536**`, () => undefined);
        await page.goto(`/#/runs/${id}`);
        await page.locator(".status-big", { hasText: "Queued" }).waitFor();
        await page.locator(".status-big", { hasText: "OK" }).waitFor();
        await page.locator(".log-row", { hasText: "at last" }).waitFor();
        await page.context().close();
    });

    test("has an output that goes on after the stream broke", async () => {
        const { world } = holder;
        const id = await world.run("long");
        const wire = await world.wire();
        const page = await world.page({ baseURL: wire.url });
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: "step" }).first().waitFor();
        wire.cut();
        await page.locator(".live-offline").waitFor();
        wire.mend();
        await page.locator(".log-row", { hasText: "step 60 of" }).waitFor();
        await page.getByRole("log").focus();
        await page.keyboard.press("Home");
        const seen = await page.locator(".log-text").allInnerTexts();
        expect(seen.slice(0, 12).map((text) => text.trim())).toEqual(Array.from({ length: 12 }, (_, i) => `step ${i + 1} of 3000`));
        await world.agent.api("POST", `/runs/${id}/kill`);
        await page.context().close();
    });

    test("of a large output reads only what is looked at", async () => {
        const { world } = holder;
        const id = await world.run("big", true);
        const page = await world.page();
        let read = 0;
        page.on("response", async (response) => {
            if (response.url().includes("/log?")) read += (await response.body().catch(() => "")).length;
        });
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: "line 000000001" }).waitFor();
        await page.getByRole("log").focus();
        await page.keyboard.press("End");
        await page.locator(".log-row", { hasText: "line 000200000" }).waitFor();
        await page.locator(".log-scroller").evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
        await page.locator(".log-row", { hasText: /line 000(09|10)\d{4}/ }).first().waitFor();
        expect(read).toBeLessThan(2_000_000);
        expect(await page.locator(".log-row").count()).toBeLessThan(100);
        await page.context().close();
    });

    test("is searched to its end, and lines have addresses", async () => {
        const { world } = holder;
        const id = await world.run("big", true);
        const page = await world.page({ permissions: ["clipboard-read", "clipboard-write"] });
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: "line 000000001" }).waitFor();
        await page.getByRole("searchbox").fill("LINE 000123456");
        await page.keyboard.press("Enter");
        const row = page.locator(".log-row", { hasText: "line 000123456" });
        await row.locator("mark").waitFor();
        await row.locator(".log-number").click();
        await page.locator(".log-row.is-target", { hasText: "line 000123456" }).waitFor();
        const address = page.url();
        expect(address).toMatch(/at=\d+/);
        await page.goto("about:blank");
        await page.goto(address);
        await page.locator(".log-row.is-target", { hasText: "line 000123456" }).waitFor();
        await page.context().close();
    });

    test("that failed opens at its end; lines have numbers, and errors are found", async () => {
        const { world } = holder;
        const shell = "for i in $(seq 1 300); do echo \"row $i, see https://example.org/$i.\"; [ $i = 40 ] && echo 'ERROR: row is broken' >&2; done; echo 'gave up' >&2; exit 4";
        await world.agent.api("PUT", "/jobs/rows", { schedule: "@manual", shell, output: "merged" });
        const id = await world.run("rows", true);
        const page = await world.page();
        await page.goto(`/#/runs/${id}`);
        await page.locator(".run-line strong", { hasText: "exit code 4" }).waitFor();
        const last = page.locator(".log-row", { hasText: "gave up" });
        await last.waitFor();
        expect(await last.locator(".log-number").innerText()).toBe("302");
        expect(await page.locator(".log-text a").last().getAttribute("href")).toBe("https://example.org/300");
        await page.getByRole("button", { name: "Jump to the first error" }).click();
        const error = page.locator(".log-row.is-target", { hasText: "row is broken" });
        expect(await error.locator(".log-number").innerText()).toBe("41");
        await page.getByRole("searchbox").fill("row 2"); // 2, 20 to 29, 200 to 299
        await page.locator(".log-search-note", { hasText: "of 111" }).waitFor();
        await page.keyboard.press("Shift+Enter");
        await page.locator(".log-search-note", { hasText: /^\d+ of 111$/ }).waitFor();
        await page.context().close();
    });

    test("wraps long lines to their end, and fills the screen", async () => {
        const { world } = holder;
        const shell = "for i in $(seq 1 60); do printf '%d ' $i; printf 'word %.0s' $(seq 1 200); echo \"end-$i\"; done; exit 1";
        await world.agent.api("PUT", "/jobs/wide", { schedule: "@manual", shell });
        const id = await world.run("wide", true);
        const page = await world.page();
        await page.goto(`/#/runs/${id}`);
        await page.locator(".log-row", { hasText: "end-60" }).waitFor();
        await page.getByRole("button", { name: "Wrap" }).click();
        const box = page.locator(".log-scroller");
        await until("the end to be in view", async () => {
            const [row, view] = [await page.locator(".log-row", { hasText: "end-60" }).boundingBox(), await box.boundingBox()];
            return row && row.y + row.height <= view.y + view.height + 2 && row.height > 40 && row.width <= view.width;
        });
        await page.getByRole("button", { name: "Full screen" }).click();
        await until("the whole window", async () => (await page.locator(".log").boundingBox()).width === 1280);
        await page.keyboard.press("Escape");
        await until("a part of it", async () => (await page.locator(".log").boundingBox()).width < 1280);
        await page.getByRole("button", { name: "Wrap" }).click();
        await page.context().close();
    });

    test("has the definition that ran, what differs now, and the runs around it", async () => {
        const { world } = holder;
        await world.agent.api("PUT", "/jobs/first", { schedule: "@manual", shell: "echo the old way" });
        await world.agent.api("PUT", "/jobs/second", { after: ["first"], shell: "exit 1" });
        const id = await world.run("first", true);
        await world.agent.api("PUT", "/jobs/first", { schedule: "@manual", shell: "echo the new way" });
        const page = await world.page();
        await page.goto(`/#/runs/${id}`);
        await page.getByRole("button", { name: "Details" }).click();
        await page.getByText("as it ran, at revision 1").waitFor();
        await page.locator(".command pre", { hasText: "the old way" }).waitFor();
        await page.locator(".diff .added", { hasText: "the new way" }).waitFor();
        await page.locator(".attempts a", { hasText: "second" }).click();
        await page.getByRole("heading", { name: "second" }).waitFor();
        await page.getByRole("link", { name: "upstream run" }).click();
        await until("the address", () => page.url().includes(id));
        await page.context().close();
    });

    test("is downloaded whole", async () => {
        const { world } = holder;
        const id = await world.run("big", true);
        const page = await world.page();
        await page.goto(`/#/runs/${id}`);
        const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()]);
        const text = readFileSync(await download.path(), "utf8");
        expect(text.split("\n").length).toBe(200_001);
        await page.context().close();
    });

    test("has its neighbours", async () => {
        const { world } = holder;
        const one = await world.run("colours", true);
        const two = await world.run("colours", true);
        const page = await world.page();
        await page.goto(`/#/runs/${one}`);
        await page.locator(`a[aria-label="Next run"][href="#/runs/${two}"]`).click();
        await page.locator(`a[aria-label="Previous run"][href="#/runs/${one}"]`).waitFor();
        await until("the address", () => page.url().includes(two));
        await page.context().close();
    });
});
