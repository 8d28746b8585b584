// The account that is logged in, and its rights.
import { computed, signal } from "@preact/signals";
import { api, loginNeeded } from "../api/client";
import type { Agent, Me } from "../api/types";

export const me = signal<Me | null>(null);
export const agent = signal<Agent | null>(null);

export type Right = "view" | "operate" | "edit" | "define" | "admin";

const everywhere = computed(() => new Set<string>(me.value?.rights));

// Whether the account has a right everywhere, or on one job: a namespace's rights hold for the jobs
// whose names start with it.
export function may(right: Right, job?: string): boolean {
    if (everywhere.value.has(right)) return true;
    if (job === undefined) return false;
    return (me.value?.namespaces ?? []).some((grant) => job.startsWith(`${grant.namespace}/`) && grant.rights.includes(right));
}

// Whether the account has a right in at least one namespace.
export function maySomewhere(right: Right): boolean {
    return may(right) || mayIn(right).length > 0;
}

// The namespaces with the right, unless it holds everywhere.
export function mayIn(right: Right): string[] {
    if (may(right)) return [];
    return (me.value?.namespaces ?? []).filter((grant) => grant.rights.includes(right)).map((grant) => grant.namespace);
}

export async function loadSession(): Promise<void> {
    [me.value, agent.value] = await Promise.all([api.get<Me>("/me"), api.get<Agent>("/agent")]);
    loginNeeded.value = false;
}

// A login or logout in one tab holds for all tabs.
const tabs = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("peal-session");
if (tabs)
    tabs.onmessage = (event: MessageEvent<"in" | "out">) => {
        if (event.data === "out") loginNeeded.value = true;
        else if (loginNeeded.value) void loadSession().catch(() => undefined);
    };

export async function login(call: "/login" | "/setup", body: unknown): Promise<void> {
    await api.post(call, body, { quiet401: true });
    await loadSession();
    tabs?.postMessage("in");
}

export async function logout(): Promise<void> {
    await api.post("/logout");
    me.value = null;
    loginNeeded.value = true;
    tabs?.postMessage("out");
}
