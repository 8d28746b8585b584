// Looks through an output piece by piece; nothing of it is kept.
import { findBytes } from "./log_model";
import type { LogSource } from "./log_source";

const PIECE = 1024 * 1024;
export const COUNTED_MAX = 8 * PIECE; // of longer outputs matches are not counted
const MATCHES_MAX = 10_000;

export interface Searched {
    source: LogSource;
    size: number;
    signal: AbortSignal;
}

// The next match after (or before) `start`, once around. `found`: `start` is a match.
export async function findNext(at: Searched, needle: Uint8Array, start: number, found: boolean, backwards: boolean): Promise<number | null> {
    const { source, size, signal } = at;
    const overlap = needle.length - 1;
    let from = !found ? start : backwards ? start : start + 1;
    // To the end (or the beginning), then the other part.
    for (let left = size + overlap; left > 0; ) {
        const low = backwards ? Math.max(0, from - PIECE) : from;
        const high = backwards ? from : Math.min(size, from + PIECE);
        if (high > low) {
            const end = Math.min(size, high + (backwards && from === size ? 0 : overlap));
            const piece = await source.read(low, end - low, signal);
            const place = findBytes(piece.bytes, needle, backwards);
            if (place >= 0) return low + place;
        }
        left -= Math.max(1, high - low);
        from = backwards ? (low === 0 ? size : low) : high === size ? 0 : high;
    }
    return null;
}

// All matches, in order; null: there is too much to look through.
export async function findAll({ source, size, signal }: Searched, needle: Uint8Array): Promise<number[] | null> {
    if (size > COUNTED_MAX) return null;
    const matches: number[] = [];
    for (let low = 0; low < size; low += PIECE) {
        const { bytes } = await source.read(low, Math.min(size - low, PIECE + needle.length - 1), signal);
        for (let at = 0; ; ) {
            const next = findBytes(bytes.subarray(at), needle, false);
            if (next < 0 || at + next >= PIECE) break;
            matches.push(low + at + next);
            if (matches.length > MATCHES_MAX) return null;
            at += next + needle.length;
        }
    }
    return matches;
}

const ERROR = /\b(?:error|fatal|exception|traceback|panic|segfault)\b|\b(?:failed|cannot|refused|denied)\b|错误|失败|异常/i;

// The first line that speaks of an error, else the first that was printed to stderr.
export async function findError({ source, size, signal }: Searched): Promise<number | null> {
    const decoder = new TextDecoder();
    const encoder = new TextEncoder();
    let stderr: number | null = null;
    for (let low = 0; low < Math.min(size, COUNTED_MAX); low += PIECE) {
        const { bytes, marks } = await source.read(low, Math.min(size - low, PIECE), signal);
        const text = decoder.decode(bytes);
        const match = ERROR.exec(text);
        if (match) return low + encoder.encode(text.slice(0, match.index)).length;
        stderr ??= marks.find((mark) => mark.stream === "stderr")?.offset ?? null;
    }
    return stderr;
}
