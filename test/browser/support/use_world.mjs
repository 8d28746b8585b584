// One world for the tests of a file; a page that complained fails the test that it was in.
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { startWorld } from "./world.mjs";

// What a person would see where a test has failed; the pages are closed.
async function showPages(world) {
    for (const context of world.contexts()) {
        for (const page of context.pages()) {
            const text = await page.locator("body").innerText({ timeout: 5000 }).catch((error) => error.message);
            console.log(`${page.url()} shows:\n${text.replace(/\n+/g, "\n").slice(0, 2000)}`);
        }
        await context.close();
    }
}

export function useWorld(options) {
    const holder = { world: null };
    beforeAll(async () => {
        holder.world = await startWorld(options);
    });
    afterEach(async ({ task }) => {
        if (task.result?.state === "fail" && holder.world) await showPages(holder.world);
        const problems = holder.world?.problems.splice(0) ?? [];
        expect(problems).toEqual([]);
    });
    afterAll(async () => {
        await holder.world?.stop();
    });
    return holder;
}
