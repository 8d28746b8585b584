// The current language. Each screen has its own table of words; see web/README.md.
import { effect, signal } from "@preact/signals";

export type Language = "en" | "zh";

export const languages: readonly { code: Language; name: string }[] = [
    { code: "en", name: "English" },
    { code: "zh", name: "中文" },
];

const KEY = "peal.language";

export function preferredLanguage(stored: string | null, wanted: readonly string[]): Language {
    if (stored === "en" || stored === "zh") return stored;
    const first = wanted.find((tag) => /^(en|zh)\b/i.test(tag));
    return first?.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export const language = signal<Language>(preferredLanguage(localStorage.getItem(KEY), navigator.languages));

effect(() => {
    document.documentElement.lang = language.value === "zh" ? "zh-CN" : "en";
});

export function chooseLanguage(code: Language): void {
    localStorage.setItem(KEY, code);
    language.value = code;
}
