// The definition as a form.
import { Panel } from "../../ui/parts";
import { joinWords, readAt, same, splitWords, writeAt, type Draft } from "./draft";
import { FieldRow, mistakesAt, Row, useText, type FormProps } from "./Field";
import { helpOf, labelOf, sections, type Field } from "./fields";
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

// From the one to the other, with what was typed.
function asKind(draft: Draft, kind: "command" | "shell"): Draft {
    const { command, shell, ...rest } = draft;
    if (kind === "shell") return { ...rest, shell: shell ?? wordsOf(command) };
    return { ...rest, command: command ?? splitWords(String(shell ?? "").trim()) };
}

function What({ form, isNew }: { form: FormProps; isNew: boolean }) {
    const { draft, mayEdit, mayDefine, onChange } = form;
    const kind = draft["shell"] !== undefined ? "shell" : "command";
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
                    {(["command", "shell"] as const).map((name) => (
                        <label key={name}>
                            <input type="radio" name="kind" checked={kind === name} onChange={() => onChange(asKind(draft, name))} />
                            <span>{t(`kind.${name}`)}</span>
                        </label>
                    ))}
                </div>
            </fieldset>
            {kind === "command" ? <Command form={form} disabled={disabled} /> : <Script form={form} disabled={disabled} />}
            <label class="field wide check">
                <input
                    type="checkbox"
                    checked={draft["paused"] === true}
                    disabled={!mayEdit}
                    onChange={(event) => onChange({ ...draft, paused: event.currentTarget.checked })}
                />
                {`${labelOf("paused")}: ${helpOf("paused")}`}
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
                const fields = section.fields.filter((field) => !waits || !field.ofTicks);
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
