// The output of a run as a list of lines, of which only a few blocks of bytes are ever there. A line
// belongs to the block in which it starts. Of blocks that were never seen the number of lines is
// guessed from those that were. Pure: who reads the blocks is told which ones are wanted.

export const BLOCK = 64 * 1024;
export const BLOCKS_KEPT = 96;
export const LINE_MAX = 16 * 1024; // of one line so much is shown

const NEWLINE = 10;

export interface Mark {
    offset: number; // from here on
    stream: "stdout" | "stderr";
    at: string | null;
}

interface Block {
    bytes: Uint8Array; // BLOCK of them, `length` are used
    length: number;
    before: number; // the byte in front of the block; -1: none, the output begins here
    starts: number[]; // of its lines, offsets of the whole output
    marks: Mark[];
    version: number;
    used: number; // when it was looked at last
}

// A place between lines: `line` of a block may be fractional, which is how far it is scrolled.
export interface Place {
    block: number;
    line: number;
}

export interface Line {
    block: number;
    index: number;
    offset: number;
    text: string;
    cut: boolean; // it is longer than LINE_MAX
    mark: Mark | null;
    version: number;
}

export class LogModel {
    size = 0;
    private blocks = new Map<number, Block>();
    private counts: (number | undefined)[] = [];
    private seenBytes = 0;
    private seenLines = 0;
    private clock = 0;
    private readonly decoder = new TextDecoder();

    // ---- what there is ----

    get blockCount(): number {
        return Math.ceil(this.size / BLOCK);
    }

    has(block: number): boolean {
        const found = this.blocks.get(block);
        return !!found && found.length === this.bytesIn(block);
    }

    bytesIn(block: number): number {
        return Math.max(0, Math.min(BLOCK, this.size - block * BLOCK));
    }

    linesIn(block: number): number {
        const exact = this.counts[block];
        if (exact !== undefined) return exact;
        const average = this.seenLines ? this.seenBytes / this.seenLines : 80;
        return Math.max(1, Math.round(this.bytesIn(block) / average));
    }

    totalLines(): number {
        let sum = 0;
        for (let i = 0; i < this.blockCount; i++) sum += this.linesIn(i);
        return sum;
    }

    // The number of a line, from 1; exact once all lines before it were counted.
    numberOf(block: number, index: number): { n: number; exact: boolean } {
        let exact = true;
        for (let i = 0; i < block && exact; i++) exact = this.counts[i] !== undefined;
        return { n: Math.round(this.lineAt({ block, line: index })) + 1, exact };
    }

    // Blocks before this one whose lines were never counted; none if they are too much to read.
    uncounted(block: number, bytes: number): number[] {
        const blocks: number[] = [];
        for (let i = 0; i < block; i++) if (this.counts[i] === undefined) blocks.push(i);
        return blocks.length * BLOCK <= bytes ? blocks : [];
    }

    // ---- places ----

    lineAt(place: Place): number {
        let sum = place.line;
        for (let i = 0; i < place.block; i++) sum += this.linesIn(i);
        return sum;
    }

    placeAt(line: number): Place {
        let rest = Math.max(0, line);
        for (let i = 0; i < this.blockCount; i++) {
            const lines = this.linesIn(i);
            if (rest < lines) return { block: i, line: rest };
            rest -= lines;
        }
        const last = Math.max(0, this.blockCount - 1);
        return { block: last, line: this.blockCount ? this.linesIn(last) : 0 };
    }

    move(place: Place, lines: number): Place {
        return this.placeAt(this.lineAt(place) + lines);
    }

    // Where the line is that holds a byte; a guess while its block is not there.
    placeOf(offset: number): Place {
        const block = Math.max(0, Math.min(this.blockCount - 1, Math.floor(offset / BLOCK)));
        const found = this.blocks.get(block);
        if (!found) return { block, line: Math.floor((this.linesIn(block) * (offset % BLOCK)) / BLOCK) };
        let index = found.starts.findIndex((start) => start > offset);
        if (index < 0) index = found.starts.length;
        if (index === 0 && block > 0) {
            const before = this.linesIn(block - 1);
            return { block: block - 1, line: Math.max(0, before - 1) };
        }
        return { block, line: Math.max(0, index - 1) };
    }

    // ---- bytes come ----

    // `before` is the byte in front of the block, -1 for the first.
    put(block: number, before: number, bytes: Uint8Array, marks: Mark[]): void {
        const entry: Block = { bytes: new Uint8Array(BLOCK), length: 0, before, starts: [], marks: [], version: 0, used: 0 };
        this.forgetCount(block);
        this.blocks.set(block, entry);
        entry.marks = marks;
        this.extend(block, entry, bytes);
        this.evict(block);
    }

    // At the end of what there is. A block that is not there stays so, and is read when it is wanted.
    append(bytes: Uint8Array, mark: Mark): void {
        let rest = bytes;
        while (rest.length) {
            const block = Math.floor(this.size / BLOCK);
            const room = BLOCK - (this.size % BLOCK);
            const part = rest.subarray(0, room);
            const at = this.size % BLOCK;
            let entry = this.blocks.get(block);
            if (!entry && at === 0) {
                const previous = this.blocks.get(block - 1);
                const before = block === 0 ? -1 : previous?.length === BLOCK ? (previous.bytes[BLOCK - 1] ?? -1) : null;
                if (before !== null) {
                    entry = { bytes: new Uint8Array(BLOCK), length: 0, before, starts: [], marks: [], version: 0, used: 0 };
                    this.blocks.set(block, entry);
                    this.evict(block);
                }
            }
            const isWhole = entry?.length === at;
            const offset = this.size;
            this.size += part.length;
            if (entry && isWhole) {
                const last = entry.marks[entry.marks.length - 1];
                if (!last || last.stream !== mark.stream || last.at !== mark.at) entry.marks.push({ ...mark, offset });
                this.extend(block, entry, part);
            } else {
                this.forgetCount(block);
                this.blocks.delete(block);
            }
            rest = rest.subarray(part.length);
        }
    }

    private extend(block: number, entry: Block, bytes: Uint8Array): void {
        const from = entry.length;
        entry.bytes.set(bytes.subarray(0, BLOCK - from), from);
        entry.length = Math.min(BLOCK, from + bytes.length);
        let previous = from === 0 ? entry.before : (entry.bytes[from - 1] ?? -1);
        for (let i = from; i < entry.length; i++) {
            if (previous === NEWLINE || (previous === -1 && i === 0)) entry.starts.push(block * BLOCK + i);
            previous = entry.bytes[i] ?? 0;
        }
        entry.version++;
        const known = this.counts[block];
        this.seenLines += entry.starts.length - (known ?? 0);
        this.seenBytes += entry.length - (known === undefined ? 0 : from);
        this.counts[block] = entry.starts.length;
    }

    private forgetCount(block: number): void {
        const known = this.counts[block];
        if (known === undefined) return;
        this.seenLines -= known;
        this.seenBytes -= this.blocks.get(block)?.length ?? this.bytesIn(block);
        this.counts[block] = undefined;
    }

    // The counts stay: what was seen once never jumps again.
    private evict(keep: number): void {
        this.clock++;
        const entry = this.blocks.get(keep);
        if (entry) entry.used = this.clock;
        while (this.blocks.size > BLOCKS_KEPT) {
            let oldest = -1;
            let least = Infinity;
            for (const [i, candidate] of this.blocks) {
                if (i !== keep && candidate.used < least) {
                    least = candidate.used;
                    oldest = i;
                }
            }
            this.blocks.delete(oldest);
        }
    }

    // ---- lines ----

    // null: its block is not there.
    line(block: number, index: number): Line | null {
        const entry = this.blocks.get(block);
        const offset = entry?.starts[index];
        if (!entry || offset === undefined) return null;
        entry.used = ++this.clock;
        const from = offset - block * BLOCK;
        const next = entry.starts[index + 1];
        const end = next === undefined ? entry.length : next - block * BLOCK;
        const parts = [entry.bytes.subarray(from, end)];
        if (next === undefined) parts.push(...this.heads(block + 1, LINE_MAX - (end - from)));
        let version = entry.version;
        if (next === undefined) version = version * 1000 + (this.blocks.get(block + 1)?.version ?? 0);
        const { text, cut } = this.decode(parts);
        return { block, index, offset, text, cut, mark: markAt(entry.marks, offset), version };
    }

    // What belongs to a line that started in an earlier block.
    private *heads(block: number, room: number): Iterable<Uint8Array> {
        for (let i = block, left = room; left > 0; i++) {
            const entry = this.blocks.get(i);
            if (!entry) return;
            const first = entry.starts[0];
            const end = first === undefined ? entry.length : first - i * BLOCK;
            yield entry.bytes.subarray(0, end);
            left -= end;
            if (first !== undefined) return;
        }
    }

    private decode(parts: Uint8Array[]): { text: string; cut: boolean } {
        const length = parts.reduce((sum, part) => sum + part.length, 0);
        const bytes = new Uint8Array(Math.min(length, LINE_MAX));
        let at = 0;
        for (const part of parts) {
            bytes.set(part.subarray(0, bytes.length - at), at);
            at += Math.min(part.length, bytes.length - at);
        }
        const end = bytes[bytes.length - 1] === NEWLINE ? bytes.length - 1 : bytes.length;
        return { text: this.decoder.decode(bytes.subarray(0, end)), cut: length > LINE_MAX };
    }

    // Blocks that are needed to draw `rows` lines from a place on, and are not there.
    missing(from: Place, rows: number): number[] {
        const wanted: number[] = [];
        let left = rows + from.line;
        for (let i = from.block; i < this.blockCount && left > 0; i++) {
            if (!this.has(i)) wanted.push(i);
            left -= this.linesIn(i);
        }
        return wanted;
    }
}

function markAt(marks: Mark[], offset: number): Mark | null {
    let found: Mark | null = null;
    for (const mark of marks) {
        if (mark.offset > offset) break;
        found = mark;
    }
    return found ?? marks[0] ?? null;
}

// ---- search ----

function lower(byte: number): number {
    return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}

// Where `needle` is in `bytes`, letters of ASCII in any case; the last place if `backwards`. -1: nowhere.
export function findBytes(bytes: Uint8Array, needle: Uint8Array, backwards: boolean): number {
    const last = bytes.length - needle.length;
    const wanted = needle.map(lower);
    for (let n = 0; n <= last; n++) {
        const at = backwards ? last - n : n;
        let i = 0;
        while (i < wanted.length && lower(bytes[at + i] ?? -1) === wanted[i]) i++;
        if (i === wanted.length) return at;
    }
    return -1;
}
