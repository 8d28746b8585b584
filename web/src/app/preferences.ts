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

export const zoneChoices = ["local", "utc", "job"] as const;
export type ZoneChoice = (typeof zoneChoices)[number];
export const zoneChoice = remembered<ZoneChoice>("peal.zone", zoneChoices, "local");
export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

// The zone of the job that the page is about; null: it is about none, or the browser does not know it.
export const jobZone = signal<string | null>(null);

export function knownZone(name: string | undefined): string | null {
    try {
        return name ? new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone : null;
    } catch {
        return null;
    }
}

// All times of a page are in this one.
export const zone = computed(() => {
    if (zoneChoice.value === "utc") return "UTC";
    return (zoneChoice.value === "job" && jobZone.value) || localZone;
});
