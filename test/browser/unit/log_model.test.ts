import { describe, expect, test } from "vitest";
import { BLOCK, BLOCKS_KEPT, findBytes, LINE_MAX, LogModel, type Mark } from "@console/screens/run/log_model";
import { findEnd, isGrowing } from "@console/screens/run/log_source";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const mark = (offset = 0): Mark => ({ offset, stream: "stdout", at: null });

// Gives the model a block as a reader would: with the byte in front of it.
function load(model: LogModel, all: Uint8Array, block: number): void {
    const from = block * BLOCK;
    model.put(block, from ? (all[from - 1] ?? -1) : -1, all.subarray(from, from + BLOCK), [mark(from)]);
}

function whole(all: Uint8Array): LogModel {
    const model = new LogModel();
    model.size = all.length;
    return model;
}

function linesOf(model: LogModel): string[] {
    const lines: string[] = [];
    for (let block = 0; block < model.blockCount; block++)
        for (let i = 0; i < model.linesIn(block); i++) lines.push(model.line(block, i)?.text ?? "?");
    return lines;
}

const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i} of a long output\n`).join("");

describe("log model", () => {
    test.each([
        ["one line without an end", "abc", ["abc"]],
        ["lines", "a\nb\n", ["a", "b"]],
        ["empty lines", "\n\na", ["", "", "a"]],
        ["no line behind the last end", "a\n", ["a"]],
        ["text of more than a byte", "héé\n中文", ["héé", "中文"]],
    ])("%s", (_name, text, want) => {
        const all = bytes(text);
        const model = whole(all);
        load(model, all, 0);
        expect(linesOf(model)).toEqual(want);
    });

    test("every line is there once, across blocks, in whatever order they come", () => {
        const text = numbered(12_000);
        const all = bytes(text);
        const model = whole(all);
        const order = Array.from({ length: model.blockCount }, (_, i) => i).reverse();
        for (const block of order) load(model, all, block);
        expect(model.blockCount).toBeGreaterThan(3);
        expect(linesOf(model)).toEqual(text.trimEnd().split("\n"));
        expect(model.totalLines()).toBe(12_000);
    });

    test("a block that ends with a line's end leaves the next line to the next block", () => {
        const text = `${"x".repeat(BLOCK - 1)}\nnext\n`;
        const all = bytes(text);
        const model = whole(all);
        load(model, all, 1);
        load(model, all, 0);
        expect([model.linesIn(0), model.linesIn(1)]).toEqual([1, 1]);
        expect(model.line(1, 0)?.text).toBe("next");
    });

    test("a line that spans whole blocks belongs to the first, and is cut", () => {
        const all = bytes(`a\n${"y".repeat(3 * BLOCK)}\nb`);
        const model = whole(all);
        for (let block = 0; block < model.blockCount; block++) load(model, all, block);
        expect([0, 1, 2, 3].map((block) => model.linesIn(block))).toEqual([2, 0, 0, 1]);
        expect(model.line(0, 1)?.cut).toBe(true);
        expect(model.line(0, 1)?.text.length).toBe(LINE_MAX);
        expect(model.line(3, 0)?.text).toBe("b");
    });

    test("what is not there is guessed, and asked for", () => {
        const all = bytes(numbered(12_000));
        const model = whole(all);
        load(model, all, 0);
        const guess = model.totalLines();
        expect(Math.abs(guess - 12_000)).toBeLessThan(1_000);
        expect(model.missing({ block: 0, line: 0 }, 40)).toEqual([]);
        expect(model.missing({ block: 0, line: model.linesIn(0) - 5 }, 40)).toEqual([1]);
        expect(model.line(1, 0)).toBeNull();
    });

    test("places and lines are the same in both directions", () => {
        const all = bytes(numbered(12_000));
        const model = whole(all);
        for (let block = 0; block < model.blockCount; block++) load(model, all, block);
        for (const line of [0, 1, 2499.5, 5000, 11_999]) expect(model.lineAt(model.placeAt(line))).toBeCloseTo(line);
        const place = model.placeAt(7000);
        const offset = model.line(place.block, place.line)?.offset ?? -1;
        expect(model.placeOf(offset)).toEqual(place);
        expect(model.placeOf(offset + 5)).toEqual(place);
    });

    test("what comes is added, in any pieces", () => {
        const text = numbered(6_000);
        const all = bytes(text);
        const model = new LogModel();
        for (let at = 0, step = 1; at < all.length; at += step, step = (step * 7) % 5003 || 1)
            model.append(all.subarray(at, Math.min(all.length, at + step)), mark(at));
        expect(model.size).toBe(all.length);
        expect(linesOf(model)).toEqual(text.trimEnd().split("\n"));
    });

    test("what comes behind a block that is not there is read later", () => {
        const model = new LogModel();
        model.size = 2 * BLOCK;
        model.append(bytes("late\n"), mark());
        expect(model.size).toBe(2 * BLOCK + 5);
        expect(model.has(2)).toBe(false);
        model.put(2, 10, bytes("late\n"), [mark()]);
        expect(model.line(2, 0)?.text).toBe("late");
    });

    test("few blocks are kept, and their numbers of lines stay", () => {
        const model = new LogModel();
        model.size = (BLOCKS_KEPT + 50) * BLOCK;
        const block = bytes(`${"z".repeat(63)}\n`.repeat(BLOCK / 64));
        for (let i = 0; i < BLOCKS_KEPT + 50; i++) model.put(i, i ? 10 : -1, block, []);
        const kept = Array.from({ length: BLOCKS_KEPT + 50 }, (_, i) => model.has(i)).filter(Boolean).length;
        expect(kept).toBe(BLOCKS_KEPT);
        expect(model.has(0)).toBe(false);
        expect(model.linesIn(0)).toBe(BLOCK / 64);
    });

    test("streams and times are those of the line's start", () => {
        const model = new LogModel();
        model.append(bytes("out\n"), { offset: 0, stream: "stdout", at: "t1" });
        model.append(bytes("err\n"), { offset: 4, stream: "stderr", at: "t2" });
        expect([model.line(0, 0)?.mark?.stream, model.line(0, 1)?.mark?.stream, model.line(0, 1)?.mark?.at]).toEqual([
            "stdout",
            "stderr",
            "t2",
        ]);
    });
});

describe("search", () => {
    test.each([
        ["first", "abcabc", "bc", false, 1],
        ["last", "abcabc", "bc", true, 4],
        ["any case", "one TWO", "two", false, 4],
        ["nowhere", "abc", "x", false, -1],
        ["longer than the text", "ab", "abc", false, -1],
    ])("%s", (_name, text, needle, backwards, want) => {
        expect(findBytes(bytes(text), bytes(needle), backwards)).toBe(want);
    });
});

describe("the end of what grows", () => {
    test.each([0, 1, 65_535, 65_536, 65_537, 5_000_000, 104_857_600])("%d bytes", async (size) => {
        let calls = 0;
        const end = await findEnd((offset) => {
            calls++;
            return Promise.resolve(offset < size);
        });
        expect(end).toBeLessThanOrEqual(size);
        expect(size - end).toBeLessThanOrEqual(65_536);
        expect(calls).toBeLessThan(30);
    });
});

describe("an output", () => {
    test.each([
        ["grows while it runs", "running", "2026-11-15T10:00:00Z", null, true],
        ["is not known to be whole when only an event told the end", "ok", "2026-11-15T10:00:00Z", null, true],
        ["is whole when its size is known", "ok", "2026-11-15T10:00:00Z", 0, false],
        ["is none of a run that never started", "missed", null, null, false],
    ] as const)("%s", (_name, state, started_at, output_bytes, expected) => {
        expect(isGrowing({ state, started_at, output_bytes })).toBe(expected);
    });
});
