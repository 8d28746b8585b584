// A night in half a minute: a failure is found, understood and run again. PEAL_PICTURES is where its recording
// goes, which README.md and README.zh-CN.md show.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeGif } from "../support/gif.mjs";
import { galleryJobs, makePast } from "../support/gallery_jobs.mjs";
import { decodePng } from "../support/png.mjs";
import { startWorld, until } from "../support/world.mjs";

const documents = process.env.PEAL_PICTURES;
const size = { width: 1000, height: 620 };
const words = {
    en: { attention: "No failed, late or lost jobs.", again: "Run again", overview: "Overview" },
    zh: { attention: "没有失败、延迟或失联的任务。", again: "再次运行", overview: "总览" },
};

// The database can be reached once `down` is gone.
const backup = (down) =>
    `echo "pg_dump of 3 databases to /mnt/backup"; for db in billing crm shop; do ` +
    `if [ -e ${down} ] && [ $db = crm ]; then echo "pg_dump: error: connection to db-2:5432 failed: Connection refused" >&2; exit 1; fi; ` +
    `for part in 1 2 3 4; do echo "$db: part $part of 4"; sleep 0.1; done; echo "$db: done"; done; echo "3 databases, 41.2 GiB"`;

// A pointer that can be seen, where the mouse is.
function drawPointer() {
    addEventListener("DOMContentLoaded", () => {
        const pointer = document.createElement("div");
        pointer.style.cssText = "position:fixed;left:-40px;top:-40px;z-index:99999;width:14px;height:20px;pointer-events:none;background:#000;outline:none;" +
            "clip-path:polygon(0 0,0 100%,28% 76%,46% 100%,62% 92%,46% 70%,80% 68%);";
        document.documentElement.append(pointer);
        addEventListener("mousemove", (event) => Object.assign(pointer.style, { left: `${event.clientX}px`, top: `${event.clientY}px` }), true);
    });
}

let world;
let down;

beforeAll(async () => {
    world = await startWorld({ jobs: galleryJobs.filter((job) => !/weekly|colours|long/.test(job.name)), agent: ["--node-id", "bell-1"] });
    down = join(world.agent.data, "down");
    await makePast(world);
});
afterAll(() => world?.stop());

describe("a failure", () => {
    test.each(["en", "zh"])("is found, understood and run again (%s)", async (language) => {
        const context = await world.context({ viewport: size });
        await context.addInitScript((chosen) => {
            if (!location.href.startsWith("http")) return;
            localStorage.setItem("peal.theme", "light");
            localStorage.setItem("peal.language", chosen);
        }, language);
        await context.addInitScript(drawPointer);
        const page = await context.newPage();
        const frames = [];
        const show = async (delayMs) => {
            if (documents) frames.push({ png: await page.screenshot(), delayMs });
        };
        let at = { x: size.width / 2, y: size.height / 2 };
        const moveTo = async (target) => {
            const box = await target.boundingBox();
            const to = { x: box.x + Math.min(box.width / 2, 90), y: box.y + box.height / 2 };
            for (let step = 1; step <= 5; step++) {
                await page.mouse.move(at.x + ((to.x - at.x) * step) / 5, at.y + ((to.y - at.y) * step) / 5);
                await show(step < 5 ? 60 : 500);
            }
            at = to;
        };
        const click = async (target) => {
            await moveTo(target);
            await page.mouse.click(at.x, at.y);
        };
        const t = words[language];

        writeFileSync(down, "");
        const job = { name: "db/dump", schedule: "15 3 * * *", timezone: "Europe/Berlin", shell: backup(down), owner: "dba@example.org", labels: { team: "data", tier: "1" }, notes: "Dumps all databases to the NAS.\n\nSafe to run again at any time." };
        await world.agent.api("PUT", "/jobs/db%2Fdump", job);
        for (let i = 0; i < 3; i++) await world.run("db/dump", true);

        await page.goto("/#/");
        const row = page.locator(".attention a.row-link", { hasText: "db/dump" });
        await page.getByText("db-2:5432").first().waitFor(); // the cause, at the first look
        await page.locator(".bars").first().waitFor();
        await show(2500);
        await click(row);
        await page.locator(".status-big").first().waitFor();
        await page.locator(".log-row", { hasText: "Connection refused" }).or(page.locator(".last-output", { hasText: "Connection refused" })).first().waitFor();
        await show(2500);
        if (!page.url().includes("/runs/")) {
            await click(page.locator(".status-line a").first());
            await page.locator(".log-row", { hasText: "Connection refused" }).first().waitFor();
            await show(2500);
        }
        rmSync(down); // db-2 is up again
        await click(page.getByRole("button", { name: t.again }));
        await page.locator(".status-big .spin, .status-big").first().waitFor();
        await page.locator(".log-row", { hasText: "billing: part 1" }).waitFor();
        for (let i = 0; i < 4; i++) await show(350);
        await page.locator(".log-row", { hasText: "41.2 GiB" }).waitFor();
        await until("its end", async () => (await world.agent.api("GET", "/jobs/db%2Fdump")).body.status.last?.state === "ok");
        await page.locator(".status-big.tone-good").waitFor();
        await show(2000);
        await click(page.getByRole("navigation").getByRole("link", { name: t.overview }));
        await page.getByText(t.attention).or(page.locator(".attention-job")).first().waitFor();
        await row.waitFor({ state: "detached" });
        if (documents) await page.getByText(t.attention).waitFor(); // what else failed is the past's: its outage moves with the hour
        await show(2500);
        await world.agent.api("DELETE", "/jobs/db%2Fdump");
        expect(world.problems.splice(0)).toEqual([]);
        await context.close();
        if (documents) writeFileSync(join(documents, `recording-${language}.gif`), encodeGif(frames.map(({ png, delayMs }) => ({ ...decodePng(png), delayMs }))));
    }, 200_000);
});
