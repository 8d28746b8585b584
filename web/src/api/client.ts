// Calls of the API. A failure is a Problem; after a 401 the login is shown.
import { signal } from "@preact/signals";
import { language } from "../i18n/language";
import { t } from "../i18n/common";
import type { Absence, Page } from "./types";

export const BASE = "/api/v1";

export interface ProblemItem {
    pointer: string;
    line: number;
    column: number;
    message: string;
}

export class Problem extends Error {
    constructor(
        readonly status: number, // 0: the server did not answer
        readonly detail: string,
        readonly requestId: string | null = null,
        readonly errors: ProblemItem[] = [],
        readonly body: Record<string, unknown> = {},
    ) {
        super(detail);
    }
}

export type Query = Record<string, string | number | boolean | null | undefined>;

export function withQuery(path: string, query: Query = {}): string {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
        if (value !== null && value !== undefined && value !== "") params.set(name, String(value));
    }
    const text = params.toString();
    return text ? `${path}?${text}` : path;
}

// A job's name is one segment of a path.
export function jobPath(name: string, rest = ""): string {
    return `/jobs/${encodeURIComponent(name)}${rest}`;
}

export function runPath(id: string, rest = ""): string {
    return `/runs/${encodeURIComponent(id)}${rest}`;
}

// Turned to true by a 401; the shell then shows the login.
export const loginNeeded = signal(false);

function randomKey(): string {
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

async function readProblem(response: Response): Promise<Problem> {
    const requestId = response.headers.get("X-Request-Id");
    try {
        const body = (await response.json()) as Record<string, unknown>;
        const detail = typeof body["detail"] === "string" ? body["detail"] : response.statusText;
        const errors = Array.isArray(body["errors"]) ? (body["errors"] as ProblemItem[]) : [];
        return new Problem(response.status, detail, requestId, errors, body);
    } catch {
        return new Problem(response.status, response.statusText || String(response.status), requestId);
    }
}

export interface Options {
    query?: Query;
    body?: unknown;
    headers?: Record<string, string>;
    signal?: AbortSignal | undefined;
    type?: string;
    quiet401?: boolean; // the login screen's own calls
    base?: string; // of what is not below /api/v1
}

// The raw answer, if it was successful.
export async function send(method: string, path: string, options: Options = {}): Promise<Response> {
    const headers: Record<string, string> = { "Accept-Language": language.value, ...options.headers };
    if (options.body !== undefined) headers["Content-Type"] = options.type ?? "application/json";
    if (method === "POST" && !headers["Idempotency-Key"]) headers["Idempotency-Key"] = randomKey();
    let response: Response;
    try {
        response = await fetch(withQuery((options.base ?? BASE) + path, options.query), {
            method,
            headers,
            body: options.body === undefined ? null : JSON.stringify(options.body),
            signal: options.signal ?? null,
            credentials: "same-origin",
            keepalive: method === "DELETE", // also while its page is being closed
        });
    } catch (error) {
        if (error instanceof DOMException && error.name === "AbortError") throw error;
        throw new Problem(0, t("error.offline"));
    }
    if (response.ok) return response;
    if (response.status === 401 && !options.quiet401) loginNeeded.value = true;
    throw await readProblem(response);
}

async function json<T>(method: string, path: string, options: Options): Promise<T> {
    const response = await send(method, path, options);
    const text = await response.text();
    return (text ? JSON.parse(text) : null) as T;
}

export const api = {
    get: <T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> =>
        json<T>("GET", path, { query, signal }),
    post: <T>(path: string, body: unknown = {}, options: Options = {}): Promise<T> =>
        json<T>("POST", path, { ...options, body }),
    put: <T>(path: string, body: unknown, options: Options = {}): Promise<T> =>
        json<T>("PUT", path, { ...options, body }),
    patch: <T>(path: string, body: unknown, options: Options = {}): Promise<T> =>
        json<T>("PATCH", path, { type: "application/merge-patch+json", ...options, body }),
    delete: <T>(path: string, options: Options = {}): Promise<T> => json<T>("DELETE", path, options),

    // For calls that an older agent lacks: null instead of a 404 or 405.
    optional: async <T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T | null> => {
        try {
            return await json<T>("GET", path, { query, signal });
        } catch (error) {
            if (error instanceof Problem && (error.status === 404 || error.status === 405)) return null;
            throw error;
        }
    },
};

// Pages until `wanted` items are there or the list ends: a page can be short and still not the last.
export async function collect<T>(
    fetchPage: (cursor: string | null) => Promise<Page<T>>,
    wanted: number,
    cursor: string | null = null,
): Promise<Page<T>> {
    const items: T[] = [];
    const absent = new Map<string | null, Absence>();
    let next = cursor;
    for (let calls = 0; calls < 20; calls++) {
        const page = await fetchPage(next);
        items.push(...page.items);
        page.incomplete?.forEach((absence) => absent.set(absence.node, absence));
        next = page.next;
        if (!next || items.length >= wanted) break;
    }
    return { items, next, ...(absent.size ? { incomplete: [...absent.values()] } : {}) };
}
