// What this browser remembers: the theme, and in which zone times are shown.
import { computed, effect, signal, type Signal } from "@preact/signals";

export function remembered<T extends string>(key: string, choices: readonly T[], otherwise: T): Signal<T> {
    const stored = localStorage.getItem(key) as T | null;
    const value = signal<T>(stored && choices.includes(stored) ? stored : otherwise);
    effect(() => localStorage.setItem(key, value.value));
    return value;
}

export const themes = ["auto", "light", "dark"] as const;
export type Theme = (typeof themes)[number];
export const theme = remembered<Theme>("peal.theme", themes, "auto");

const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(systemDark.matches);
systemDark.addEventListener("change", () => (systemIsDark.value = systemDark.matches));
export const isDark = computed(() => (theme.value === "auto" ? systemIsDark.value : theme.value === "dark"));

effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
});

export const zoneChoice = remembered("peal.zone", ["local", "utc"] as const, "local");
export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
export const zone = computed(() => (zoneChoice.value === "utc" ? "UTC" : localZone));
