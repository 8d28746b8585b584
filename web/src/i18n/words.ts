// Dictionaries. The English one says which keys there are; the Chinese one must have the same, or
// the build fails. "{name}" in a text is filled in.
import { language } from "./language";

export type Values = Record<string, string | number>;

type Keys<E> = Extract<keyof E, string>;

// "key#one" beside "key" is its singular: chosen when {n} is 1.
type Base<K extends string> = K extends `${string}#one` ? never : K;

export interface Words<K extends string> {
    (key: K, values?: Values): string;
    has(key: string): key is K;
    readonly all: { readonly en: Record<string, string>; readonly zh: Record<string, string> };
}

export function fill(text: string, values: Values): string {
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
        const value = values[name];
        return value === undefined ? whole : String(value);
    });
}

export function words<const E extends Record<string, string>>(
    en: E,
    zh: Record<Base<Keys<E>>, string>,
): Words<Base<Keys<E>>> {
    return dictionary(en, zh as Record<string, string>) as unknown as Words<Base<Keys<E>>>;
}

// The same as the build writes it (pack_words.ts): keys and texts in one order; an empty text is none.
export function packed(keys: string, en: string, zh: string): Words<string> {
    const names = keys.split("|");
    const table = (texts: string): Record<string, string> => Object.fromEntries(texts.split("|").flatMap((text, i) => (text ? [[names[i]!, text]] : [])));
    return dictionary(table(en), table(zh));
}

function dictionary(en: Record<string, string>, zh: Record<string, string>): Words<string> {
    const all = { en, zh };
    const say = (key: string, values: Values = {}): string => {
        const table = all[language.value];
        const single = values["n"] === 1 ? table[`${key}#one`] : undefined;
        return fill(single ?? table[key] ?? key, values);
    };
    return Object.assign(say, { has: (key: string): key is string => key in en, all });
}
