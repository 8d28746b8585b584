import type { ComponentChildren } from "preact";
import { chooseLanguage, language, languages } from "../../i18n/language";
import { t as common } from "../../i18n/common";
import "./login.css";

export function Frame({ title, lead, children }: { title: string; lead: string; children: ComponentChildren }) {
    return (
        <div class="gate">
            <div class="gate-card">
                <div class="gate-brand">
                    <svg viewBox="0 0 24 24" aria-hidden="true">
                        <path d="M12 2.800a1.600 1.600 0 0 1 1.600 1.600v.5c2.800.7 4.600 3.100 4.600 6.200 0 3.500.7 4.700 1.900 6.100H3.900c1.200-1.400 1.900-2.600 1.900-6.100 0-3.100 1.800-5.500 4.600-6.200v-.5A1.600 1.600 0 0 1 12 2.800zM9.700 18.600h4.600a2.300 2.300 0 0 1-4.600 0z" />
                    </svg>
                    <span>peal</span>
                </div>
                <h1>{title}</h1>
                <p class="faint">{lead}</p>
                {children}
            </div>
            <div class="gate-languages" role="group" aria-label={common("language")}>
                {languages.map((item) => (
                    <button
                        key={item.code}
                        type="button"
                        aria-pressed={item.code === language.value}
                        onClick={() => chooseLanguage(item.code)}
                    >
                        {item.name}
                    </button>
                ))}
            </div>
        </div>
    );
}
