// The wall clock of an agent, which a test sets (test/fault/fake_clock.c). null: not built here.
import { existsSync, mkdtempSync, openSync, closeSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binaries } from "./agent.mjs";

const line = (offset_s) => `${offset_s < 0 ? "-" : "+"}${Math.abs(offset_s)}`.padEnd(31) + "\n";

export function makeClock() {
    const library = join(binaries, "../test/fake_clock.so");
    if (!existsSync(library)) return null;
    const folder = mkdtempSync(join(tmpdir(), "peal-browser-clock-"));
    const file = join(folder, "offset");
    writeFileSync(file, line(0));
    return {
        env: { LD_PRELOAD: library, FAKE_CLOCK: file, ASAN_OPTIONS: [process.env.ASAN_OPTIONS, "verify_asan_link_order=0"].filter(Boolean).join(":") },
        // In one write: the agent has the file in its memory.
        set(offset_s) {
            const fd = openSync(file, "r+");
            writeSync(fd, line(offset_s), 0);
            closeSync(fd);
        },
        remove: () => rmSync(folder, { recursive: true, force: true }),
    };
}
