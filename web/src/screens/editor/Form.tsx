// The definition as a form.
import { t as common } from "../../i18n/common";
import { Panel } from "../../ui/parts";
import { joinWords, readAt, same, splitWords, writeAt, type Draft } from "./draft";
import { FieldRow, mistakesAt, Row, useText, type FormProps } from "./Field";
import { callFields, functionFields, helpOf, labelOf, sections, withoutProcess, type Field } from "./fields";
import { When } from "./Schedules";
import { t } from "./words";

function wordsOf(value: unknown): string {
    return Array.isArray(value) ? joinWords(value) : "";
}

function Command({ form, disabled }: { form: FormProps; disabled: boolean }) {
    const { draft, onChange, mistakes } = form;
    const [text, type] = useText<unknown>(draft["command"], wordsOf, splitWords);
    const items = mistakesAt(mistakes, "/command");
    return (
        <Row id="f-command" label={labelOf("command")} help={helpOf("command")} items={items} wide>
            <input
                id="f-command"
                class="mono"
                value={text}
                disabled={disabled}
                placeholder="/usr/local/bin/backup --full"
                autocomplete="off"
                spellcheck={false}
                aria-invalid={items.length > 0}
                aria-describedby="f-command-wrong f-command-help"
                onInput={(event) => onChange(writeAt(draft, ["command"], type(event.currentTarget.value)))}
            />
        </Row>
    );
}

function Script({ form, disabled }: { form: FormProps; disabled: boolean }) {
    const text = String(form.draft["shell"] ?? "");
    const items = mistakesAt(form.mistakes, "/shell");
    return (
        <Row id="f-shell" label={labelOf("shell")} help={helpOf("shell")} items={items} wide>
            <textarea
                id="f-shell"
                class="mono"
                rows={Math.min(20, Math.max(4, text.split("\n").length + 1))}
                value={text}
                disabled={disabled}
                spellcheck={false}
                aria-invalid={items.length > 0}
                aria-describedby="f-shell-wrong f-shell-help"
                onInput={(event) => form.onChange({ ...form.draft, shell: event.currentTarget.value })}
            />
        </Row>
    );
}

// The address stays a text while it is typed, so that the form stays that of a call.
function Call({ form, disabled }: { form: FormProps; disabled: boolean }) {
    const { draft, onChange, mistakes } = form;
    const items = mistakes.filter((item) => item.pointer === "/http" || item.pointer === "/http/url");
    return (
        <>
            <Row id="f-http-url" label={labelOf("http.url")} help={helpOf("http.url")} items={items} wide>
                <input
                    id="f-http-url"
                    class="mono"
                    value={String(readAt(draft, ["http", "url"]) ?? "")}
                    disabled={disabled}
                    placeholder="https://example.org/beat"
                    autocomplete="off"
                    spellcheck={false}
                    aria-invalid={items.length > 0}
                    aria-describedby="f-http-url-wrong f-http-url-help"
                    onInput={(event) => onChange(writeAt(draft, ["http", "url"], event.currentTarget.value))}
                />
            </Row>
            {callFields.map((field) => (
                <FieldRow key={field.name} field={field} form={form} disabled={disabled} />
            ))}
        </>
    );
}

// Registered by its program, and only shown here.
function FunctionOf({ form }: { form: FormProps }) {
    return (
        <>
            <p class="note field wide">{t("function.text")}</p>
            {functionFields.map((field) => (
                <FieldRow key={field.name} field={field} form={form} disabled />
            ))}
        </>
    );
}

type Kind = "command" | "shell" | "http" | "function";

function kindOf(draft: Draft): Kind {
    return (["function", "http", "shell"] as const).find((kind) => draft[kind] !== undefined) ?? "command";
}

// From the one to the other, with what was typed. A call has nothing that only processes have.
function asKind(draft: Draft, kind: Kind): Draft {
    const { command, shell, http, function: call, ...rest } = draft;
    if (kind === "function") return { ...withoutProcess(rest), function: call };
    if (kind === "http") return { ...withoutProcess(rest), http: http ?? "" };
    if (kind === "shell") return { ...rest, shell: shell ?? wordsOf(command) };
    return { ...rest, command: command ?? splitWords(String(shell ?? "").trim()) };
}

function What({ form, isNew }: { form: FormProps; isNew: boolean }) {
    const { draft, mayEdit, mayDefine, onChange } = form;
    const kind = kindOf(draft);
    const disabled = !mayEdit || !mayDefine;
    const names = mistakesAt(form.mistakes, "/name");
    return (
        <>
            {isNew && (
                <Row id="f-name" label={labelOf("name")} help={helpOf("name")} items={names} wide>
                    <input
                        id="f-name"
                        autofocus
                        value={String(draft["name"] ?? "")}
                        placeholder="db/backup"
                        disabled={!mayEdit}
                        autocomplete="off"
                        spellcheck={false}
                        aria-invalid={names.length > 0}
                        aria-describedby="f-name-wrong f-name-help"
                        onInput={(event) => onChange({ ...draft, name: event.currentTarget.value })}
                    />
                </Row>
            )}
            {mayEdit && !mayDefine && <p class="note field wide">{t("no.define")}</p>}
            <fieldset class="field wide" disabled={disabled}>
                <legend>{t("kind")}</legend>
                <div class="segments">
                    {(kind === "function" ? (["function"] as const) : (["command", "shell", "http"] as const)).map((name) => (
                        <label key={name}>
                            <input type="radio" name="kind" checked={kind === name} onChange={() => onChange(asKind(draft, name))} />
                            <span>{t(`kind.${name}`)}</span>
                        </label>
                    ))}
                </div>
            </fieldset>
            {kind === "command" && <Command form={form} disabled={disabled} />}
            {kind === "shell" && <Script form={form} disabled={disabled} />}
            {kind === "http" && <Call form={form} disabled={disabled} />}
            {kind === "function" && <FunctionOf form={form} />}
            <label class="field wide check">
                <input
                    type="checkbox"
                    checked={draft["paused"] === true}
                    disabled={!mayEdit}
                    onChange={(event) => onChange({ ...draft, paused: event.currentTarget.checked })}
                />
                {labelOf("paused") + common("colon") + helpOf("paused")}
            </label>
        </>
    );
}

function isSet(draft: Draft, field: Field): boolean {
    const value = readAt(draft, field.path);
    return value !== undefined && value !== null && !same(value, {}) && value !== field.choices?.[0];
}

export function Form({ form, isNew }: { form: FormProps; isNew: boolean }) {
    return (
        <div class="editor-form">
            <Panel title={t("section.name")}>
                <div class="fields panel-body">
                    <What form={form} isNew={isNew} />
                </div>
            </Panel>
            <Panel title={t("section.when")}>
                <div class="fields panel-body">
                    <When form={form} disabled={!form.mayEdit} />
                </div>
            </Panel>
            {sections.map((section) => {
                const waits = form.draft["after"] !== undefined;
                const kind = kindOf(form.draft);
                const hasProcess = kind === "command" || kind === "shell";
                const fields = section.fields.filter(
                    (field) =>
                        !(waits && field.ofTicks) && (hasProcess || !field.ofProcess) && !(kind === "function" && (field.name === "env" || field.name === "secrets")),
                );
                if (fields.length === 0) return null;
                const set = fields.filter((field) => isSet(form.draft, field)).length;
                const wrong = fields.some((field) => mistakesAt(form.mistakes, `/${field.path[0]}`).length > 0);
                return (
                    <details key={section.name} class="panel" open={wrong || undefined}>
                        <summary class="panel-head">
                            <h2>{t(`section.${section.name}`)}</h2>
                            <span class="panel-beside">{set > 0 && t("section.set", { n: set })}</span>
                        </summary>
                        <div class="fields panel-body">
                            {fields.map((field) => (
                                <FieldRow
                                    key={field.path.join()}
                                    field={field}
                                    form={form}
                                    disabled={!form.mayEdit || (!!field.defines && !form.mayDefine)}
                                />
                            ))}
                        </div>
                    </details>
                );
            })}
        </div>
    );
}
