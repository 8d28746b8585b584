// The address inside the app is the part behind the '#': "#/jobs/backup?tab=runs".
import { computed, signal } from "@preact/signals";

export interface Location {
    path: string; // "/jobs/db%2Fbackup"
    query: URLSearchParams;
}

export function parseHash(hash: string): Location {
    const text = hash.replace(/^#/, "") || "/";
    const mark = text.indexOf("?");
    const path = mark < 0 ? text : text.slice(0, mark);
    return {
        path: path.startsWith("/") ? path : `/${path}`,
        query: new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)),
    };
}

// "/jobs/:name" and "/jobs/db%2Fbackup": {name: "db/backup"}. null: it does not match.
export function matchPath(pattern: string, path: string): Record<string, string> | null {
    const wanted = pattern.split("/");
    const given = path.split("/");
    if (wanted.length !== given.length) return null;
    const params: Record<string, string> = {};
    for (const [i, part] of wanted.entries()) {
        const segment = given[i] ?? "";
        if (part.startsWith(":")) {
            if (!segment) return null;
            try {
                params[part.slice(1)] = decodeURIComponent(segment);
            } catch {
                return null;
            }
        } else if (part !== segment) {
            return null;
        }
    }
    return params;
}

export function href(path: string, query: Record<string, string | null | undefined> = {}): string {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value) params.set(name, value);
    const text = params.toString();
    return `#${path}${text ? `?${text}` : ""}`;
}

export const hrefs = {
    job: (name: string, query: Record<string, string | null | undefined> = {}): string =>
        href(`/jobs/${encodeURIComponent(name)}`, query),
    run: (id: string, query: Record<string, string | null | undefined> = {}): string => href(`/runs/${id}`, query),
    runs: (query: Record<string, string | null | undefined> = {}): string => href("/runs", query),
};

export const location = signal<Location>(parseHash(window.location.hash));
export const path = computed(() => location.value.path);

// What would be lost by leaving this address; and where somebody wants to go nevertheless.
export const unsaved = signal(false);
export const leaving = signal<string | null>(null);

let shown = window.location.hash;

window.addEventListener("hashchange", () => {
    const to = parseHash(window.location.hash);
    if (unsaved.value && to.path !== location.value.path) {
        leaving.value = window.location.hash;
        window.history.replaceState(null, "", shown);
        return;
    }
    shown = window.location.hash;
    location.value = to;
});

// The answer to the question: what is not saved is lost.
export function leave(): void {
    const to = leaving.value;
    leaving.value = null;
    unsaved.value = false;
    if (to !== null) go(to);
}

export function go(to: string): void {
    window.location.hash = to;
}

// Changes the address without a step in the browser's history: for filters.
export function replace(to: string): void {
    window.history.replaceState(null, "", to);
    shown = to;
    location.value = parseHash(to);
}

export function setQuery(changes: Record<string, string | null>): void {
    const next: Record<string, string | null> = Object.fromEntries(location.value.query);
    Object.assign(next, changes);
    replace(href(location.value.path, next));
}
