// State and actions of the viewer of a run's output, without its drawing.
import { signal } from "@preact/signals";
import { Problem } from "../../api/client";
import { isOpen, type Run } from "../../api/types";
import { parseAnsi, plain, lastDrawn, type Style } from "./ansi";
import { BLOCK, LogModel, type Line, type Place } from "./log_model";
import { findAll, findError, findNext, type Searched } from "./log_search";
import { follow, isGrowing, sourceOf, type LogSource } from "./log_source";

export const LINE_HEIGHT = 19;
const HEIGHT_MAX = 8_000_000; // browsers draw no taller element well
const COUNTED = 1024 * 1024; // so much is read so that lines in view have their numbers
const READ_PAUSE_MS = 30;

export class LogController {
    readonly version = signal(0); // grows with every change that is to be drawn
    readonly following = signal(true);
    readonly loaded = signal(false);
    readonly problem = signal<Problem | null>(null);
    readonly searching = signal(false);
    readonly found = signal<number | null>(null); // the byte where the search is
    readonly matches = signal<number[] | null>(null); // all of them; null: not counted
    readonly absent = signal<string | null>(null); // the node that does not tell more now
    readonly unseen = signal(0); // lines that came while it was not followed
    readonly target = signal<number | null>(null); // the line that the address names
    model = new LogModel();
    place: Place = { block: 0, line: 0 };
    rows = 30;
    viewHeight = 30 * LINE_HEIGHT; // in pixels, of what is in view
    needle = "";
    columns = 0; // of a line, before it is wrapped; 0: it is not
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
        opensAtEnd: boolean,
        private readonly onEnd: (run: Run) => void,
    ) {
        this.atEnd = opensAtEnd && at === null;
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
        if (this.atEnd) this.toEnd();
        else this.draw();
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
            onAbsent: (node) => (this.absent.value = node),
            onChunk: (bytes, mark) => {
                this.absent.value = null;
                const before = this.model.totalLines();
                this.model.append(bytes, mark);
                if (!this.following.value) this.unseen.value += this.model.totalLines() - before;
                if (this.following.value) this.toEnd();
                else this.draw();
            },
            onEnd: (run) => {
                this.absent.value = null;
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

    // Wrapped lines are higher: each may be the only one in view.
    get lastTop(): number {
        return Math.max(0, this.model.totalLines() - (this.columns ? 1 : this.rows - 1));
    }

    // The line on top when the last one is at the bottom.
    private get endTop(): number {
        if (!this.columns) return this.lastTop;
        let top = this.model.totalLines();
        for (let left = this.rows - 1; top > 0 && left > 0; top--) {
            const { block, line } = this.model.placeAt(top - 1);
            left -= Math.max(1, Math.ceil((this.model.line(block, Math.floor(line))?.text.length ?? 0) / this.columns));
            if (left < 0) break;
        }
        return top;
    }

    // 0: lines are as long as they are.
    wrapAt(columns: number): void {
        if (this.columns === columns) return;
        this.columns = columns;
        if (this.atEnd || this.following.value) this.toEnd();
        else this.scrollBy(0);
    }

    scrollTo(line: number): void {
        const top = Math.max(0, Math.min(this.lastTop, line));
        this.place = this.model.placeAt(top);
        const isLast = top >= this.endTop - 1;
        this.atEnd = isLast && top > 0;
        this.following.value = this.following.value && isLast;
        if (isLast) this.unseen.value = 0;
        this.draw();
    }

    scrollBy(lines: number): void {
        if (lines < 0) this.following.value = false;
        this.scrollTo(this.model.lineAt(this.place) + lines);
    }

    toEnd(): void {
        this.atEnd = true;
        this.place = this.model.placeAt(this.endTop);
        this.unseen.value = 0;
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
        wanted.push(...this.model.uncounted(block, COUNTED));
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

    // ---- search ----

    private searched(signal: AbortSignal): Searched {
        return { source: this.source, size: this.model.size, signal };
    }

    // True: it has found something, or was given up for another search.
    private async look(find: (signal: AbortSignal) => Promise<number | null>): Promise<boolean> {
        this.searchStop?.abort();
        const stop = new AbortController();
        this.searchStop = stop;
        this.searching.value = true;
        try {
            const at = await find(stop.signal);
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

    // From where one is; what was counted already is not read again.
    async search(text: string, backwards: boolean): Promise<boolean> {
        const isOther = text !== this.needle;
        this.needle = text;
        this.draw();
        if (isOther) this.matches.value = null;
        if (!text) {
            this.searchStop?.abort();
            this.found.value = null;
            return true;
        }
        const needle = new TextEncoder().encode(text);
        const start = this.found.value ?? (backwards ? this.model.size : (this.visible()[0]?.offset ?? 0));
        return this.look(async (signal) => {
            const at = await findNext(this.searched(signal), needle, start, this.found.value !== null, backwards);
            if (isOther || !this.matches.value) void this.count(text, needle, signal);
            return at;
        });
    }

    private async count(text: string, needle: Uint8Array, signal: AbortSignal): Promise<void> {
        const all = await findAll(this.searched(signal), needle).catch(() => null);
        if (this.needle === text) this.matches.value = all;
    }

    toError(): Promise<boolean> {
        return this.look(async (signal) => {
            const at = await findError(this.searched(signal));
            this.target.value = at === null ? null : await this.lineStart(at);
            return this.target.value;
        });
    }

    // Where the line begins that holds a byte.
    private async lineStart(offset: number): Promise<number> {
        await this.load(Math.floor(offset / BLOCK));
        const { block, line } = this.model.placeOf(offset);
        return this.model.line(block, line)?.offset ?? offset;
    }
}
