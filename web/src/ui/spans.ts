// Spans of time in the language that is spoken.
import { language } from "../i18n/language";
import { formatRough, formatSpan, unitsOf } from "./time";

export function spanText(ms: number): string {
    return formatSpan(ms, unitsOf[language.value]);
}

export function roughSpan(ms: number): string {
    return formatRough(ms, unitsOf[language.value]);
}
