// Who uses the console, and what they may do.
import { computed, signal } from "@preact/signals";
import { api, loginNeeded } from "../api/client";
import type { Agent, Me } from "../api/types";

export const me = signal<Me | null>(null);
export const agent = signal<Agent | null>(null);

const byRole: Record<string, readonly string[]> = {
    viewer: ["view"],
    operator: ["view", "operate"],
    editor: ["view", "operate", "edit", "define"],
    admin: ["view", "operate", "edit", "define", "admin"],
};

const rights = computed(() => new Set(me.value?.rights ?? byRole[me.value?.role ?? ""] ?? []));

export type Right = "view" | "operate" | "edit" | "define" | "admin";

export function may(right: Right): boolean {
    return rights.value.has(right);
}

export async function loadSession(): Promise<void> {
    [me.value, agent.value] = await Promise.all([api.get<Me>("/me"), api.get<Agent>("/agent")]);
    loginNeeded.value = false;
}

export async function logout(): Promise<void> {
    await api.post("/logout");
    me.value = null;
    loginNeeded.value = true;
}
