// Every screen in both languages and themes, and on a phone: a picture for people, and axe for
// what people with other eyes and hands need.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { axeSource } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld();
const folder = process.env.PEAL_SCREENSHOTS ?? "/tmp/peal-screenshots";
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

const kinds = [
    ["en-light", { theme: "light", language: "en" }, {}],
    ["en-dark", { theme: "dark", language: "en" }, {}],
    ["zh-light", { theme: "light", language: "zh" }, {}],
    ["zh-dark", { theme: "dark", language: "zh" }, {}],
    ["en-phone", { theme: "light", language: "en" }, phone],
];

async function openPage(kind, prefs, options) {
    const context = await holder.world.context(options);
    await context.addInitScript((chosen) => {
        if (!location.href.startsWith("http")) return;
        localStorage.setItem("peal.theme", chosen.theme);
        localStorage.setItem("peal.language", chosen.language);
    }, prefs);
    return context.newPage();
}

async function serious(page) {
    await page.evaluate(axeSource());
    const found = await page.evaluate(() => window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }));
    return found.violations
        .filter((violation) => violation.impact === "serious" || violation.impact === "critical")
        .map((violation) => `${violation.id}: ${violation.nodes.map((node) => `${node.target} ${node.failureSummary}`).join(" | ")}`);
}

describe("every screen", () => {
    test.each(kinds)("%s", async (kind, prefs, options) => {
        const { world } = holder;
        mkdirSync(folder, { recursive: true });
        const coloured = await world.run("colours", true);
        await world.run("flaky", true);
        const long = await world.run("long");
        const page = await openPage(kind, prefs, options);
        const screens = [
            ["jobs", "#/jobs", ".primary-cell"],
            ["job", "#/jobs/flaky", ".chart canvas"],
            ["job-definition", "#/jobs/billing%2Fclose-day?tab=definition", ".definition"],
            ["job-runs", "#/jobs/flaky?tab=runs", "tbody tr"],
            ["runs", "#/runs", ".primary-cell"],
            ["run", `#/runs/${coloured}`, ".fg-1"],
            ["run-live", `#/runs/${long}`, ".log-row"],
            ["overview", "#/", ".bars"],
            ["editor", "#/jobs/billing%2Fclose-day/edit", ".fires-next tbody tr"],
            ["new", "#/new", "#f-schedule-0"],
            ["nodes", "#/nodes", ".nodes-table tbody tr"],
            ["timeline", "#/timeline", ".mark-ok[data-href]"],
            ["timeline-table", "#/timeline?view=table", "tbody tr"],
            ["settings", "#/settings", ".choice"],
            ["settings-audit", "#/settings?tab=audit", ".change"],
            ["login", "#/login", ".gate-form"],
            ["setup", "#/setup/secret", ".gate-form"],
            ["not-found", "#/nowhere", ".empty"],
        ];
        const problems = [];
        for (const [name, address, sign] of screens) {
            await page.goto(`/${address}`);
            await page.locator(sign).first().waitFor();
            await page.evaluate(() => document.fonts.ready);
            await page.screenshot({ path: join(folder, `${name}-${kind}.png`) });
            if (!kind.startsWith("zh")) problems.push(...(await serious(page)).map((text) => `${name}: ${text}`));
        }
        await page.goto("/#/jobs");
        await page.locator(".primary-cell").first().waitFor();
        await page.keyboard.press("Control+k");
        await page.locator(".palette-item").nth(4).waitFor();
        await page.screenshot({ path: join(folder, `palette-${kind}.png`) });
        expect(problems).toEqual([]);
        await world.agent.api("POST", `/runs/${long}/kill`);
        await page.context().close();
    });
});
