// State and actions of the viewer of a run's output, without its drawing.
import { signal } from "@preact/signals";
import { Problem } from "../../api/client";
import { isOpen, type Run } from "../../api/types";
import { parseAnsi, plain, lastDrawn, type Style } from "./ansi";
import { BLOCK, findBytes, LogModel, type Line, type Place } from "./log_model";
import { follow, isGrowing, sourceOf, type LogSource } from "./log_source";

export const LINE_HEIGHT = 19;
const HEIGHT_MAX = 8_000_000; // browsers draw no taller element well
const SEARCH_PIECE = 1024 * 1024;
const READ_PAUSE_MS = 30;

export class LogController {
    readonly version = signal(0); // grows with every change that is to be drawn
    readonly following = signal(true);
    readonly loaded = signal(false);
    readonly problem = signal<Problem | null>(null);
    readonly searching = signal(false);
    readonly found = signal<number | null>(null); // the byte where the search is
    readonly target = signal<number | null>(null); // the line that the address names
    model = new LogModel();
    place: Place = { block: 0, line: 0 };
    rows = 30;
    viewHeight = 30 * LINE_HEIGHT; // in pixels, of what is in view
    needle = "";
    atEnd = false; // scrolled there; how many lines that is may turn out only when they come
    private source: LogSource;
    private stop = new AbortController();
    private asked = new Set<number>();
    private styles = new Map<number, { version: number; styles: Style[] }>();
    private searchStop: AbortController | null = null;
    private wanted: number[] = [];
    private reading: ReturnType<typeof setTimeout> | null = null;

    constructor(
        private run: Run,
        at: number | null,
        private readonly onEnd: (run: Run) => void,
    ) {
        this.source = sourceOf(run);
        this.target.value = at;
        this.following.value = at === null && isOpen(run.state);
        void this.start();
    }

    close(): void {
        this.stop.abort();
        this.searchStop?.abort();
    }

    private async start(): Promise<void> {
        const { signal } = this.stop;
        try {
            const size = await this.source.size(signal);
            if (isGrowing(this.run)) await this.tail(size, signal);
            else this.settle(size);
        } catch (error) {
            if (!signal.aborted) this.problem.value = error instanceof Problem ? error : new Problem(0, String(error));
        }
    }

    private settle(size: number): void {
        this.model.size = size;
        this.loaded.value = true;
        if (this.target.value !== null) this.show(this.target.value);
        this.draw();
    }

    // Existing output is read by ranges, new output as a stream from the start of the last block on.
    private async tail(size: number, signal: AbortSignal): Promise<void> {
        const boundary = Math.floor(size / BLOCK) * BLOCK;
        this.model.size = boundary;
        if (boundary > 0) {
            await this.load(boundary / BLOCK - 1);
        }
        this.settle(boundary);
        await follow(this.run.run_id, {
            offset: boundary,
            signal,
            onChunk: (bytes, mark) => {
                this.model.append(bytes, mark);
                if (this.following.value) this.toEnd();
                else this.draw();
            },
            onEnd: (run) => {
                this.run = run;
                if (run.output_truncated) this.reread();
                this.onEnd(run);
            },
        });
    }

    // The middle was dropped when it ended: offsets mean something else now.
    private reread(): void {
        this.source = sourceOf(this.run);
        this.model = new LogModel();
        this.asked.clear();
        this.styles.clear();
        void this.start();
    }

    // ---- reading ----

    async load(block: number): Promise<void> {
        if (this.asked.has(block) || this.model.has(block)) return;
        this.asked.add(block);
        const from = block * BLOCK;
        const lead = block > 0 ? 1 : 0;
        try {
            const piece = await this.source.read(from - lead, this.model.bytesIn(block) + lead, this.stop.signal);
            const before = lead ? (piece.bytes[0] ?? -1) : -1;
            if (!this.model.has(block)) this.model.put(block, before, piece.bytes.subarray(lead), piece.marks);
            if (this.atEnd) this.toEnd();
            else this.draw();
        } catch (error) {
            if (!this.stop.signal.aborted)
                this.problem.value = error instanceof Problem ? error : new Problem(0, String(error));
        } finally {
            this.asked.delete(block);
        }
    }

    // Blocks that are only scrolled past are not read.
    private want(blocks: number[]): void {
        this.wanted = blocks;
        if (this.reading || !blocks.length) return;
        this.reading = setTimeout(() => {
            this.reading = null;
            if (!this.stop.signal.aborted) this.wanted.forEach((block) => void this.load(block));
        }, READ_PAUSE_MS);
    }

    private draw(): void {
        this.version.value++;
    }

    // ---- where it is ----

    get height(): number {
        return Math.min(HEIGHT_MAX, this.model.totalLines() * LINE_HEIGHT);
    }

    // How many lines a pixel of the scroll bar is; of a very long output more than a line has pixels.
    // Its whole way is then that from the first line to the last that can be on top.
    get linesPerPixel(): number {
        if (this.model.totalLines() * LINE_HEIGHT <= HEIGHT_MAX) return 1 / LINE_HEIGHT;
        return this.lastTop / (HEIGHT_MAX + LINE_HEIGHT - this.viewHeight);
    }

    get isScaled(): boolean {
        return this.linesPerPixel !== 1 / LINE_HEIGHT;
    }

    get scrollTop(): number {
        return this.model.lineAt(this.place) / this.linesPerPixel;
    }

    get lastTop(): number {
        return Math.max(0, this.model.totalLines() - this.rows + 1);
    }

    scrollTo(line: number): void {
        const top = Math.max(0, Math.min(this.lastTop, line));
        this.place = this.model.placeAt(top);
        const isLast = top >= this.lastTop - 1;
        this.atEnd = isLast && top > 0;
        this.following.value = this.following.value && isLast;
        this.draw();
    }

    scrollBy(lines: number): void {
        if (lines < 0) this.following.value = false;
        this.scrollTo(this.model.lineAt(this.place) + lines);
    }

    toEnd(): void {
        this.atEnd = true;
        this.place = this.model.placeAt(this.lastTop);
        this.draw();
    }

    setFollowing(on: boolean): void {
        this.following.value = on;
        if (on) this.toEnd();
    }

    // Brings the line that holds a byte into view, once its block is there.
    show(offset: number): void {
        const block = Math.floor(offset / BLOCK);
        this.following.value = false;
        this.atEnd = false;
        const aim = (): void => {
            const line = this.model.lineAt(this.model.placeOf(offset));
            this.place = this.model.placeAt(Math.max(0, Math.min(this.lastTop, line - Math.floor(this.rows / 3))));
            this.draw();
        };
        aim();
        void this.load(block).then(aim);
    }

    // ---- lines ----

    // The lines to be drawn; null for those that are still to come.
    visible(): (Line | null)[] {
        const lines: (Line | null)[] = [];
        let { block, line } = this.place;
        let index = Math.floor(line);
        const wanted = this.model.missing({ block, line: index }, this.rows + 1);
        if (this.model.has(block + 1) === false && block + 1 < this.model.blockCount) wanted.push(block + 1);
        this.want(wanted);
        while (lines.length <= this.rows && block < this.model.blockCount) {
            if (index >= this.model.linesIn(block)) {
                block++;
                index = 0;
                continue;
            }
            lines.push(this.model.line(block, index));
            index++;
        }
        return lines;
    }

    // How the line begins: colours go on from the line before, within a block.
    styleBefore(line: Line): Style {
        const known = this.styles.get(line.block);
        const entry = known && known.version === line.version ? known : { version: line.version, styles: [plain] };
        this.styles.set(line.block, entry);
        if (this.styles.size > 32) this.styles.delete(this.styles.keys().next().value as number);
        for (let i = entry.styles.length; i <= line.index; i++) {
            const before = this.model.line(line.block, i - 1);
            const style = entry.styles[i - 1] ?? plain;
            entry.styles.push(before ? parseAnsi(lastDrawn(before.text), style).after : plain);
        }
        return entry.styles[line.index] ?? plain;
    }

    // ---- search: piece by piece, from where one is; nothing of it is kept ----

    async search(needle: string, backwards: boolean): Promise<boolean> {
        this.searchStop?.abort();
        const stop = new AbortController();
        this.searchStop = stop;
        this.needle = needle;
        this.draw();
        if (!needle) {
            this.found.value = null;
            return true;
        }
        this.searching.value = true;
        try {
            const at = await this.find(new TextEncoder().encode(needle), backwards, stop.signal);
            if (stop.signal.aborted) return true;
            this.found.value = at;
            if (at !== null) this.show(at);
            return at !== null;
        } catch (error) {
            if (!stop.signal.aborted)
                this.problem.value = error instanceof Problem ? error : new Problem(0, String(error));
            return true;
        } finally {
            if (this.searchStop === stop) this.searching.value = false;
        }
    }

    private async find(needle: Uint8Array, backwards: boolean, signal: AbortSignal): Promise<number | null> {
        const size = this.model.size;
        const overlap = needle.length - 1;
        const start = this.found.value ?? (backwards ? size : (this.visible()[0]?.offset ?? 0));
        let from = this.found.value === null ? start : backwards ? start : start + 1;
        // Once around: to the end (or the beginning), then the other part.
        for (let left = size + overlap; left > 0; ) {
            const low = backwards ? Math.max(0, from - SEARCH_PIECE) : from;
            const high = backwards ? from : Math.min(size, from + SEARCH_PIECE);
            if (high > low) {
                const end = Math.min(size, high + (backwards && from === size ? 0 : overlap));
                const piece = await this.source.read(low, end - low, signal);
                const at = findBytes(piece.bytes, needle, backwards);
                if (at >= 0) return low + at;
            }
            left -= Math.max(1, high - low);
            from = backwards ? (low === 0 ? size : low) : high === size ? 0 : high;
        }
        return null;
    }
}
