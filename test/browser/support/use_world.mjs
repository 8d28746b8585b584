// One world for the tests of a file; a page that complained fails the test that it was in.
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { startWorld } from "./world.mjs";

export function useWorld(options) {
    const holder = { world: null };
    beforeAll(async () => {
        holder.world = await startWorld(options);
    });
    afterEach(() => {
        const problems = holder.world?.problems.splice(0) ?? [];
        expect(problems).toEqual([]);
    });
    afterAll(async () => {
        await holder.world?.stop();
    });
    return holder;
}
