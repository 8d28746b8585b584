// The words of a channel's messages: templates of title and text, and what a message would look like.
import { useEffect, useRef, useState } from "preact/hooks";
import { api, Problem } from "../../api/client";
import { events, fills, fromTexts, type Texts } from "./channel";
import { t } from "./channel_words";

const WAIT_MS = 400; // after the last key

interface Sample {
    title: string;
    text: string;
}

function Preview({ name, texts }: { name: string; texts: Texts }) {
    const [event, setEvent] = useState<string>("failure");
    const [sample, setSample] = useState<Sample | Problem | null>(null);
    const body = JSON.stringify(fromTexts(texts));
    useEffect(() => {
        const stop = new AbortController();
        const timer = setTimeout(() => {
            const options = { query: { preview: true, event }, signal: stop.signal };
            api.post<Sample>(`/channels/${encodeURIComponent(name || "new")}/test`, JSON.parse(body), options).then(setSample, (error: unknown) => {
                if (error instanceof Problem) setSample(error);
            });
        }, WAIT_MS);
        return () => {
            clearTimeout(timer);
            stop.abort();
        };
    }, [name, body, event]);
    return (
        <div class="message-preview">
            <label>
                {t("template.preview")}
                <select value={event} onChange={(change) => setEvent(change.currentTarget.value)}>
                    {events.map((one) => (
                        <option key={one} value={one}>
                            {t(one)}
                        </option>
                    ))}
                </select>
            </label>
            {sample instanceof Problem && <p class="tone-bad small">{sample.detail}</p>}
            {sample && !(sample instanceof Problem) && (
                <div class="message" role="status">
                    <strong>{sample.title}</strong>
                    <pre>{sample.text}</pre>
                </div>
            )}
        </div>
    );
}

export function Template({ name, texts, onSet }: { name: string; texts: Texts; onSet: (field: string, text: string) => void }) {
    const [isOpen, setOpen] = useState(Boolean(texts["title"] || texts["text"]));
    const last = useRef<HTMLInputElement | HTMLTextAreaElement | null>(null);
    // At the cursor of the field that was used last.
    const insert = (fill: string): void => {
        const field = last.current;
        if (!field) return onSet("text", `${texts["text"] ?? ""}${fill}`);
        field.setRangeText(fill, field.selectionStart ?? 0, field.selectionEnd ?? 0, "end");
        onSet(field.name, field.value);
        field.focus();
    };
    const shared = (field: "title" | "text") => ({
        name: field,
        class: "mono",
        spellcheck: false,
        value: texts[field] ?? "",
        placeholder: field === "title" ? "${title}" : "${facts}\n\n${output}\n\n${link}",
        onFocus: (event: Event) => void (last.current = event.currentTarget as HTMLInputElement),
        onInput: (event: Event) => onSet(field, (event.currentTarget as HTMLInputElement).value),
    });
    return (
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{t("template")}</summary>
            {isOpen && (
                <div class="ask-form">
                    <p class="faint small">{t("template.text")}</p>
                    <label>
                        {t("template.title")}
                        <input autocomplete="off" {...shared("title")} />
                    </label>
                    <label>
                        {t("template.body")}
                        <textarea rows={5} {...shared("text")} />
                    </label>
                    <div class="template-fills" role="group" aria-label={t("template.fields")}>
                        {fills.map((fill) => (
                            <button key={fill} type="button" class="label" onClick={() => insert(`\${${fill}}`)}>
                                {fill}
                            </button>
                        ))}
                    </div>
                    <Preview name={name} texts={texts} />
                </div>
            )}
        </details>
    );
}
