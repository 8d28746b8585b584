// Every screen in both languages and themes, and on a phone: a picture for people, and axe for
// what people with other eyes and hands need. PEAL_PICTURES is where those of docs/CONSOLE.md go.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { galleryJobs, makePast } from "../support/gallery_jobs.mjs";
import { axeSource } from "../support/world.mjs";
import { useWorld } from "../support/use_world.mjs";

const holder = useWorld({ jobs: galleryJobs, agent: ["--node-id", "bell-1", "--label", "zone=eu"] });
const folder = process.env.PEAL_SCREENSHOTS ?? "/tmp/peal-screenshots";
const documents = process.env.PEAL_PICTURES;
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

const kinds = [
    ["en-light", { theme: "light", language: "en" }, {}],
    ["en-dark", { theme: "dark", language: "en" }, {}],
    ["zh-light", { theme: "light", language: "zh" }, {}],
    ["zh-dark", { theme: "dark", language: "zh" }, {}],
    ["en-phone", { theme: "light", language: "en" }, phone],
    ["zh-phone", { theme: "dark", language: "zh" }, phone],
];

async function openPage(prefs, options) {
    const context = await holder.world.context(options);
    await context.addInitScript((chosen) => {
        if (!location.href.startsWith("http")) return;
        localStorage.setItem("peal.theme", chosen.theme);
        localStorage.setItem("peal.language", chosen.language);
    }, prefs);
    return context.newPage();
}

// Nothing is left of the screen before. Without an address of another site in between the browser
// keeps its process, which has the console's code compiled.
async function openAnew(page, address) {
    if (page.url() === "about:blank") {
        await page.goto(`/${address}`);
        return;
    }
    await page.evaluate((to) => window.history.replaceState(null, "", to), `/${address}`);
    await page.reload();
}

const onlyEnglish = ["alerts", "channel-template", "graph", "import", "job-definition", "new", "node", "settings-groups", "settings-maintenance", "timeline-table", "week"]; // in the document, which is to stay small
const onPhone = ["overview", "jobs", "job", "run", "editor", "timeline", "palette"]; // in the document

async function picture(page, screen, kind) {
    const name = `${screen}-${kind}`;
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    const isShown = kind.endsWith("phone") ? kind === "en-phone" && onPhone.includes(screen) : kind.startsWith("en") || !onlyEnglish.includes(screen);
    if (!documents || !isShown) return;
    const cdp = await page.context().newCDPSession(page);
    const { data } = await cdp.send("Page.captureScreenshot", { format: "webp", quality: 45 });
    writeFileSync(join(documents, `${name}.webp`), Buffer.from(data, "base64"));
    await cdp.detach();
}

async function serious(page) {
    await page.evaluate(axeSource());
    const found = await page.evaluate(() => window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] }));
    return found.violations
        .filter((violation) => violation.impact === "serious" || violation.impact === "critical")
        .map((violation) => `${violation.id}: ${violation.nodes.map((node) => `${node.target} ${node.failureSummary}`).join(" | ")}`);
}

// Address, what tells that it is there, and what is done then.
function screensOf(coloured, long) {
    const yaml = async (page) => {
        await page.locator(".segments label").nth(1).click();
        const text = page.locator(".yaml-text textarea");
        await text.fill((await text.inputValue()).replace("0 0 * * *", "0 25 * * *"));
        await page.locator(".yaml-mistake").waitFor();
    };
    const bulk = async (page) => {
        for (const i of [1, 4, 5]) await page.locator(".check-cell input").nth(i).check();
        await page.locator(".bulk button").nth(1).click();
        await page.locator("dialog[open] .preview-row").first().waitFor();
    };
    const crontab = async (page) => {
        await page.locator("textarea").fill("MAILTO=ops@example.org\n30 2 * * *  /usr/local/bin/backup --full\n*/5 * * * *  curl -fsS https://example.org/beat\n0 99 * * *  /opt/broken\n");
        await page.locator("tbody tr").first().waitFor();
    };
    const template = async (page) => {
        await page.locator("tbody tr", { hasText: "billing" }).getByRole("button").click();
        await page.getByRole("menuitem").nth(1).click();
        await page.locator("dialog summary").click();
        await page.locator("dialog input[name=title]").fill("${job} on ${node}: exit ${exit_code}");
        await page.locator(".message", { hasText: "exit" }).waitFor();
        await page.locator(".message-preview").evaluate((element) => element.scrollIntoView({ block: "end" }));
    };
    return [
        ["overview", "#/", ".bars"],
        ["jobs", "#/jobs", ".sparkline"],
        ["jobs-bulk", "#/jobs", ".sparkline", bulk],
        ["job", "#/jobs/metrics%2Frollup", ".line-chart circle"],
        ["job-runs", "#/jobs/metrics%2Frollup?tab=runs", "tbody tr"],
        ["job-definition", "#/jobs/billing%2Fclose-day?tab=definition", ".definition"],
        ["job-versions", "#/jobs/billing%2Fclose-day?tab=versions", ".version-row"],
        ["job-after", "#/jobs/reports%2Fsales", ".schedule-words a"],
        ["runs", "#/runs", ".primary-cell"],
        ["run", `#/runs/${coloured}`, ".fg-3"],
        ["run-live", `#/runs/${long}`, ".log-row"],
        ["editor", "#/jobs/billing%2Fclose-day/edit", ".fires-next tbody tr"],
        ["editor-yaml", "#/jobs/billing%2Fclose-day/edit", ".fires-next tbody tr", yaml],
        ["new", "#/new", "#f-schedule-0"],
        ["timeline", "#/timeline?span=day", ".mark-ok[data-href]"],
        ["timeline-table", "#/timeline?view=table", "tbody tr"],
        ["alerts", "#/alerts", "tbody tr"],
        ["graph", "#/graph", ".graph-node"],
        ["import", "#/import", "textarea", crontab],
        ["week", "#/timeline?view=week", ".week-day a"],
        ["nodes", "#/nodes", ".nodes-table tbody tr"],
        ["node", "#/nodes/bell-1", ".line-chart-line"],
        ["settings", "#/settings", ".choice"],
        ["settings-calendars", "#/settings?tab=calendars&calendar=holidays", ".month .is-out"],
        ["settings-groups", "#/settings?tab=groups", ".group-panel tbody tr"],
        ["settings-maintenance", "#/settings?tab=maintenance", "tbody tr"],
        ["settings-channels", "#/settings?tab=channels", "tbody tr"],
        ["channel-template", "#/settings?tab=channels", "tbody tr", template],
        ["settings-users", "#/settings?tab=users", "tbody tr"],
        ["settings-tokens", "#/settings?tab=tokens", "tbody tr"],
        ["settings-audit", "#/settings?tab=audit", ".change"],
        ["settings-about", "#/settings?tab=about", ".facts"],
        ["login", "#/login", ".gate-form"],
        ["setup", "#/setup/secret", ".gate-form"],
        ["not-found", "#/nowhere", ".empty"],
    ];
}

describe("every screen", () => {
    beforeAll(async () => {
        const { world } = holder;
        const { api } = world.agent;
        for (const path of [folder, documents]) if (path) mkdirSync(path, { recursive: true });
        await makePast(world);
        await world.run("reports/weekly", true);
        await api("POST", "/users", { name: "ann", password: "correct horse", role: "admin" });
        await api("POST", "/users", { name: "otto", role: "none", namespaces: [{ namespace: "billing", role: "editor" }] });
        await api("PUT", "/calendars/holidays", { dates: ["2026-12-24/2026-12-26", "2026-12-31", "01-01", "05-01"], weekdays: ["sun"], windows: ["sat 12:00-24:00"], notes: "Nobody is in the office." });
        await api("PUT", "/groups/exports", { cluster: 1, notes: "The warehouse takes one at a time." });
        await api("PATCH", "/jobs/long", { groups: ["exports"] });
        await api("POST", "/maintenance", { namespace: "billing", from: "2096-01-02T22:00:00Z", to: "2096-01-03T02:00:00Z", reason: "new disks" });
        await api("PUT", "/channels/ops", { type: "slack", url: "https://hooks.slack.example/services/T0/B0/secret" });
        await api("PUT", "/channels/billing", { type: "mail", url: "smtps://mail.example.org", from: "peal@example.org", to: ["billing@example.org"], quiet: "1h" });
        await api("PATCH", "/jobs/billing%2Finvoices", { calendars: ["holidays"], notify: ["billing"] });
        await api("POST", "/tokens", { label: "deploys", role: "operator", expires_in: "90d" });
        await api("PATCH", "/jobs/billing%2Fclose-day", { timeout: "1h", labels: { tier: "2" } });
        await api("PATCH", "/jobs/billing%2Fclose-day", { timeout: "2h", labels: { tier: "1" } });
    });

    test.each(kinds)("%s", async (kind, prefs, options) => {
        const { world } = holder;
        const long = await world.run("long");
        const coloured = await world.run("colours", true);
        const page = await openPage(prefs, options);
        const problems = [];
        for (const [name, address, sign, act] of screensOf(coloured, long)) {
            await openAnew(page, address);
            await page.locator(sign).first().waitFor({ state: "attached" }); // not all is shown on a phone
            await act?.(page);
            await picture(page, name, kind);
            if (!kind.startsWith("zh")) problems.push(...(await serious(page)).map((text) => `${name}: ${text}`));
        }
        await page.goto("/#/jobs");
        await page.locator(".primary-cell").first().waitFor();
        await page.keyboard.press("Control+k");
        await page.locator(".palette-item").nth(4).waitFor();
        await picture(page, "palette", kind);
        expect(problems).toEqual([]);
        await world.agent.api("POST", `/runs/${long}/kill`);
        await page.context().close();
    }, 400_000);
});
