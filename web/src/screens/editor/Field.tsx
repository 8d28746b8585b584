// One field of the form: label, hint, and the server's errors.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ProblemItem } from "../../api/client";
import { Icon } from "../../ui/icons";
import { ChannelChoices, LabelChoices, NodeChoices, OwnerChoices, type ChoiceProps } from "./Choices";
import { areParams, arePairs, formatPairs, formatParams, parseParams, parsePairs, readAt, same, writeAt, type Draft } from "./draft";
import { helpOf, labelOf, namesOf, valueOf, type Field } from "./fields";
import { t } from "./words";

export interface Mistake extends ProblemItem {
    hint?: string | null;
}

// The server's hint, unless the message has it already.
export function hintOf({ message, hint }: Mistake): string | null {
    return hint && !message.includes(hint) ? hint : null;
}

export interface FormProps {
    name: string;
    draft: Draft;
    mayEdit: boolean;
    mayDefine: boolean; // the command and its user
    mistakes: Mistake[];
    onChange: (draft: Draft) => void;
}

export function mistakesAt(mistakes: Mistake[], pointer: string): Mistake[] {
    return mistakes.filter((item) => item.pointer === pointer || item.pointer.startsWith(`${pointer}/`));
}

export function Mistakes({ id, items }: { id: string; items: Mistake[] }) {
    return (
        <div class="mistakes" id={id} aria-live="polite">
            {items.map((item) => (
                <p key={item.message}>
                    <Icon name="warning" />
                    <span>
                        {item.message}
                        {hintOf(item) && <span class="mistake-hint"> {hintOf(item)}</span>}
                    </span>
                </p>
            ))}
        </div>
    );
}

// The caret under a one-line field, at the column of the error.
export function Caret({ column }: { column: number }) {
    if (column < 1) return null;
    return (
        <pre class="caret" aria-hidden="true">
            {`${" ".repeat(column - 1)}^`}
        </pre>
    );
}

export function Row(props: {
    id: string;
    label: string;
    help?: string | undefined;
    items: Mistake[];
    wide?: boolean;
    children: ComponentChildren;
}) {
    return (
        <div class={`field ${props.wide ? "wide" : ""} ${props.items.length ? "is-wrong" : ""}`}>
            <label for={props.id}>{props.label}</label>
            {props.children}
            <Mistakes id={`${props.id}-wrong`} items={props.items} />
            {props.help && (
                <p class="field-help" id={`${props.id}-help`}>
                    {props.help}
                </p>
            )}
        </div>
    );
}

// The text of a value: typed text stays as long as it means the same value.
export function useText<T>(value: T, format: (value: T) => string, parse: (text: string) => T): [string, (text: string) => T] {
    const [text, setText] = useState(() => format(value));
    const shown = same(parse(text), value) ? text : format(value);
    return [
        shown,
        (typed) => {
            setText(typed);
            return parse(typed);
        },
    ];
}

export function idOf(path: readonly string[]): string {
    return `f-${path.join("-")}`;
}

function choiceOf(field: Field, choice: string): string {
    const key = `o.${field.name}.${choice}`;
    return t.has(key) ? t(key) : choice;
}

function Pairs({ field, draft, onChange, ...rest }: InputProps) {
    const value = readAt(draft, field.path);
    const [text, type] = useText(value, formatPairs, parsePairs as (text: string) => unknown);
    if (!arePairs(value)) return <p class="note">{t("pairs.text")}</p>;
    return (
        <textarea
            {...rest}
            class="mono"
            rows={Math.min(10, Math.max(2, text.split("\n").length))}
            placeholder={field.sample}
            spellcheck={false}
            value={text}
            onInput={(event) => onChange(writeAt(draft, field.path, type(event.currentTarget.value)))}
        />
    );
}

// The same value, whether its default is a number or the text of one.
function asTyped(value: unknown): unknown {
    return areParams(value) ? parseParams(formatParams(value)) : value;
}

function Params({ field, draft, onChange, ...rest }: InputProps) {
    const value = readAt(draft, field.path);
    const [text, type] = useText(asTyped(value), formatParams, parseParams as (text: string) => unknown);
    if (!areParams(value)) return <p class="note">{t("params.text")}</p>;
    return (
        <textarea
            {...rest}
            class="mono"
            rows={Math.min(10, Math.max(2, text.split("\n").length))}
            placeholder={field.sample}
            spellcheck={false}
            value={text}
            onInput={(event) => onChange(writeAt(draft, field.path, type(event.currentTarget.value)))}
        />
    );
}

// What is being typed may end in a comma.
function Names({ field, draft, onChange, ...rest }: InputProps) {
    const format = (value: unknown): string => (Array.isArray(value) ? value.join(", ") : String(value ?? ""));
    const [text, type] = useText(readAt(draft, field.path), format, namesOf as (text: string) => unknown);
    return (
        <input
            {...rest}
            value={text}
            placeholder={field.sample}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => onChange(writeAt(draft, field.path, type(event.currentTarget.value)))}
        />
    );
}

interface InputProps {
    field: Field;
    draft: Draft;
    onChange: (draft: Draft) => void;
    id: string;
    disabled: boolean;
    "aria-describedby": string;
    "aria-invalid": boolean;
}

// What is in use already, to choose from.
const choices: Record<string, (props: ChoiceProps) => ComponentChildren> = {
    labels: LabelChoices,
    owner: OwnerChoices,
    where: NodeChoices,
};

function Input(props: InputProps) {
    const { field, draft, onChange, ...rest } = props;
    if (field.name === "notify.to") return <ChannelChoices draft={draft} onChange={onChange} id={rest.id} disabled={rest.disabled} />;
    const value = readAt(draft, field.path);
    const set = (text: string): void => onChange(writeAt(draft, field.path, valueOf(field.kind, text)));
    const text = value === undefined || value === null ? "" : String(value);
    switch (field.kind) {
        case "pairs":
            return <Pairs {...props} />;
        case "params":
            return <Params {...props} />;
        case "names":
            return <Names {...props} />;
        case "area":
            return (
                <textarea
                    {...rest}
                    rows={Math.min(12, Math.max(2, text.split("\n").length))}
                    value={text}
                    onInput={(event) => set(event.currentTarget.value)}
                />
            );
        case "choice":
            return (
                <select
                    {...rest}
                    value={text || field.choices?.[0]}
                    onChange={(event) => set(event.currentTarget.value === field.choices?.[0] ? "" : event.currentTarget.value)}
                >
                    {field.choices?.map((choice) => (
                        <option key={choice} value={choice}>
                            {choiceOf(field, choice)}
                        </option>
                    ))}
                </select>
            );
        default:
            return (
                <input
                    {...rest}
                    value={text}
                    placeholder={field.sample}
                    autocomplete="off"
                    spellcheck={false}
                    onInput={(event) => set(event.currentTarget.value)}
                />
            );
    }
}

export function FieldRow({ field, form, disabled }: { field: Field; form: FormProps; disabled: boolean }) {
    const id = idOf(field.path);
    const items = mistakesAt(form.mistakes, `/${field.path.join("/")}`);
    // `overlap: x` is told at /overlap, `notify: [x]` at /notify/0; the policy, and to whom, stand for it.
    if (field.alone) {
        items.push(...form.mistakes.filter((item) => item.pointer.replace(/\/\d+$/, "") === `/${field.path[0]}`));
    }
    const lines = field.kind === "pairs" || field.kind === "params" ? ` ${t(field.kind)}` : "";
    const isWide = field.kind === "area" || lines !== "";
    const Choices = choices[field.name];
    return (
        <Row id={id} label={labelOf(field.name)} help={helpOf(field.name) + lines} items={items} wide={isWide}>
            <Input
                field={field}
                draft={form.draft}
                onChange={form.onChange}
                id={id}
                disabled={disabled}
                aria-describedby={`${id}-wrong ${id}-help`}
                aria-invalid={items.length > 0}
            />
            {items[0] && field.kind === "text" && <Caret column={items[0].column} />}
            {Choices && !disabled && <Choices draft={form.draft} onChange={form.onChange} />}
        </Row>
    );
}
