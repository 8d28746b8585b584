// Reads the output of a run: existing output by ranges, new output as a stream.
import { api, BASE, runPath, send } from "../../api/client";
import { brokenStreams } from "../../api/live";
import { readStream, retryDelay } from "../../api/sse";
import { isOpen, type Run } from "../../api/types";
import type { Mark } from "./log_model";

interface Chunk {
    stream: "stdout" | "stderr";
    at: string | null;
    gap?: number;
    text?: string;
    base64?: string;
}

interface LogAnswer {
    run: Run;
    chunks: Chunk[];
    next_offset: number;
    complete: boolean;
}

export interface Piece {
    bytes: Uint8Array;
    marks: Mark[];
}

const encoder = new TextEncoder();

export function chunkBytes(chunk: Chunk): Uint8Array {
    if (chunk.text !== undefined) return encoder.encode(chunk.text);
    return Uint8Array.from(atob(chunk.base64 ?? ""), (c) => c.charCodeAt(0));
}

function join(chunks: Chunk[], from: number): Piece {
    const parts = chunks.map(chunkBytes);
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    const marks: Mark[] = [];
    let at = 0;
    parts.forEach((part, i) => {
        const chunk = chunks[i] as Chunk;
        const last = marks[marks.length - 1];
        if (last?.stream !== chunk.stream || last?.at !== chunk.at)
            marks.push({ offset: from + at, stream: chunk.stream, at: chunk.at });
        bytes.set(part, at);
        at += part.length;
    });
    return { bytes, marks };
}

export interface LogSource {
    size(signal: AbortSignal): Promise<number>;
    read(from: number, length: number, signal: AbortSignal): Promise<Piece>;
}

// Offsets are of all that it printed; nothing was dropped.
function wholeSource(run: Run): LogSource {
    const get = (offset: number, limit: number, signal: AbortSignal): Promise<LogAnswer> =>
        api.get<LogAnswer>(runPath(run.run_id, "/log"), { offset, limit }, signal);
    return {
        size: async (signal) => {
            if (run.output_bytes !== null) return run.output_bytes;
            const reaches = async (offset: number): Promise<boolean> => (await get(offset, 1, signal)).chunks.length > 0;
            return findEnd(reaches);
        },
        read: async (from, length, signal) => join((await get(from, length, signal)).chunks, from),
    };
}

// Output whose middle was dropped: only the kept bytes.
function keptSource(run: Run): LogSource {
    const path = runPath(run.run_id, "/log");
    const range = (from: number, to: number, signal: AbortSignal): Promise<Response> =>
        send("GET", path, { query: { raw: true }, headers: { Range: `bytes=${from}-${to}` }, signal });
    return {
        size: async (signal) => {
            const response = await range(0, 0, signal);
            return Number(response.headers.get("Content-Range")?.split("/")[1] ?? 0);
        },
        read: async (from, length, signal) => {
            const response = await range(from, from + length - 1, signal);
            const bytes = new Uint8Array(await response.arrayBuffer());
            return { bytes, marks: [{ offset: from, stream: "stdout", at: null }] };
        },
    };
}

export function sourceOf(run: Run): LogSource {
    return run.output_truncated ? keptSource(run) : wholeSource(run);
}

// It may print more, or has ended while its size is not known yet: an event tells the end before the
// run is read anew.
export function isGrowing(run: Pick<Run, "state" | "started_at" | "output_bytes">): boolean {
    return isOpen(run.state) || (run.started_at !== null && run.output_bytes === null);
}

// The end of what still grows, in a few small calls: an offset that is reached and one that is not,
// brought together.
export async function findEnd(reaches: (offset: number) => Promise<boolean>, near = 64 * 1024): Promise<number> {
    let low = 0;
    let high = near;
    while (await reaches(high)) {
        low = high;
        high *= 4;
    }
    while (high - low > near) {
        const middle = Math.floor((low + high) / 2);
        if (await reaches(middle)) low = middle;
        else high = middle;
    }
    return low;
}

export interface Tail {
    offset: number;
    signal: AbortSignal;
    onChunk: (bytes: Uint8Array, mark: Mark, end: number) => void;
    onEnd: (run: Run) => void;
    onAbsent: (node: string) => void; // the run's node does not answer; it is asked again
}

// Follows until the end of the run; reconnects after a break at the last offset.
export async function follow(runId: string, tail: Tail): Promise<void> {
    let isBroken = false;
    const breaks = (on: boolean): void => {
        if (on !== isBroken) brokenStreams.value += on ? 1 : -1;
        isBroken = on;
    };
    try {
        await followOn(runId, tail, breaks);
    } finally {
        breaks(false);
    }
}

async function followOn(runId: string, tail: Tail, breaks: (on: boolean) => void): Promise<void> {
    let lastId: string | null = null;
    let ended = false;
    for (let attempt = 0; !ended && !tail.signal.aborted; attempt++) {
        if (attempt) {
            breaks(true);
            await new Promise((resolve) => setTimeout(resolve, retryDelay(attempt - 1, Math.random())));
        }
        try {
            await readStream(runPath(runId, "/log/stream"), {
                query: { offset: tail.offset },
                lastId,
                signal: tail.signal,
                onOpen: () => {
                    attempt = 0;
                    breaks(false);
                },
                onEvent: (event) => {
                    if (event.event === "end") {
                        ended = true;
                        tail.onEnd(JSON.parse(event.data) as Run);
                    } else if (event.event === "absent") {
                        tail.onAbsent((JSON.parse(event.data) as { node: string }).node);
                    } else if (event.event === "chunk") {
                        const chunk = JSON.parse(event.data) as Chunk;
                        const end = Number(event.id);
                        lastId = event.id;
                        const bytes = chunkBytes(chunk);
                        tail.onChunk(bytes, { offset: end - bytes.length, stream: chunk.stream, at: chunk.at }, end);
                    }
                },
            });
        } catch (error) {
            if (tail.signal.aborted) return;
            if (error && (error as { status?: number }).status === 409) throw error;
        }
    }
}

export function downloadAddress(runId: string): string {
    return `${BASE}${runPath(runId, "/log")}?raw=true`;
}
