// Names that are in use already, beside the fields that take them: labels, owners, labels of nodes, channels.
import { api } from "../../api/client";
import type { Page } from "../../api/types";
import { href } from "../../app/router";
import { useResource } from "../../ui/resource";
import { t } from "./builder_words";
import { readAt, writeAt, type Draft } from "./draft";

const SHOWN = 8;

interface Facets {
    owners: { value: string }[];
    labels: { value: string }[];
}

interface Node {
    node: string;
    state: string;
    labels: Record<string, string>;
    program?: string | null;
}

function Chips({ names, onAdd }: { names: string[]; onAdd: (name: string) => void }) {
    if (!names.length) return null;
    return (
        <p class="chips">
            <span class="faint">{t("known")}</span>
            {names.slice(0, SHOWN).map((name) => (
                <button key={name} type="button" class="label" title={t("add", { name })} onClick={() => onAdd(name)}>
                    {name}
                </button>
            ))}
        </p>
    );
}

export interface ChoiceProps {
    draft: Draft;
    onChange: (draft: Draft) => void;
}

export function LabelChoices({ draft, onChange }: ChoiceProps) {
    const known = useResource("facets", (signal) => api.optional<Facets>("/jobs:facets", {}, signal));
    const labels = (readAt(draft, ["labels"]) ?? {}) as Record<string, unknown>;
    const names = known.data?.labels.map((facet) => facet.value).filter((text) => String(labels[text.split("=")[0] ?? ""]) !== text.slice(text.indexOf("=") + 1)) ?? [];
    const add = (text: string): void => {
        const at = text.indexOf("=");
        onChange({ ...draft, labels: { ...labels, [text.slice(0, at)]: text.slice(at + 1) } });
    };
    return <Chips names={names.filter((text) => text.includes("="))} onAdd={add} />;
}

export function OwnerChoices({ draft, onChange }: ChoiceProps) {
    const known = useResource("facets", (signal) => api.optional<Facets>("/jobs:facets", {}, signal));
    const names = known.data?.owners.map((facet) => facet.value).filter((name) => name && name !== draft["owner"]) ?? [];
    return <Chips names={names} onAdd={(owner) => onChange({ ...draft, owner })} />;
}

// "zone=eu,!gpu", as the scheduler reads it. Of other forms (sets, ...) only the server knows.
export function matches(selector: string, labels: Record<string, string>): boolean | null {
    const terms = selector.split(",").map((term) => term.trim()).filter(Boolean);
    let isKnown = true;
    const all = terms.every((term) => {
        const [, not = "", name = "", sign = "", value = ""] = /^(!?)([\w./-]+)(?:(!?=)([\w./-]*))?$/.exec(term) ?? [];
        if (!name) return !(isKnown = false);
        const has = sign ? labels[name] === value : name in labels;
        return (not === "!") !== (sign === "!=") ? !has : has;
    });
    return isKnown ? all : null;
}

export function NodeChoices({ draft, onChange }: ChoiceProps) {
    const known = useResource("nodes", (signal) => api.optional<Page<Node>>("/nodes", {}, signal));
    const nodes = known.data?.items.filter((node) => node.state !== "gone" && node.state !== "api" && !node.program) ?? [];
    const where = String(draft["where"] ?? "");
    const labels = [...new Set(nodes.flatMap((node) => Object.entries(node.labels).map(([name, value]) => (value ? `${name}=${value}` : name))))];
    const found = nodes.map((node) => matches(where, node.labels));
    const n = found.filter(Boolean).length;
    const isUsed = (label: string): boolean => where.split(",").some((term) => term.trim() === label);
    return (
        <>
            {where && nodes.length > 0 && !found.includes(null) && (
                <p class={n ? "faint small" : "note warn"}>{n ? t("nodes.match", { n, all: nodes.length }) : t("nodes.nobody")}</p>
            )}
            <Chips names={labels.filter((label) => !isUsed(label))} onAdd={(label) => onChange({ ...draft, where: where.trim() ? `${where},${label}` : label })} />
        </>
    );
}

// Everybody sees the names of channels, which is all that is needed here.
export function ChannelChoices({ draft, onChange, id, disabled }: ChoiceProps & { id: string; disabled: boolean }) {
    const known = useResource("channels", (signal) => api.optional<Page<{ name: string; default?: boolean }>>("/channels", {}, signal));
    const value = readAt(draft, ["notify", "to"]);
    const chosen = value === undefined ? [] : Array.isArray(value) ? value.map(String) : [String(value)];
    const names = [...new Set([...(known.data?.items.map((item) => item.name) ?? []), ...chosen])];
    const isNobody = Array.isArray(value) && value.length === 0;
    const write = (to: string[] | undefined): void => onChange(writeAt(draft, ["notify", "to"], to && to.length === 1 ? to[0] : to));
    const set = (name: string, on: boolean): void => {
        const next = names.filter((other) => (other === name ? on : chosen.includes(other)));
        write(next.length ? next : undefined);
    };
    return (
        <div id={id} role="group" class="choices">
            {names.map((name) => (
                <label key={name} class="check">
                    <input type="checkbox" disabled={disabled} checked={chosen.includes(name)} onChange={(event) => set(name, event.currentTarget.checked)} />
                    {name} {known.data?.items.some((item) => item.name === name && item.default) && <span class="faint">({t("channels.all")})</span>}
                </label>
            ))}
            {names.length > 0 && (
                <label class="check">
                    <input type="checkbox" disabled={disabled} checked={isNobody} onChange={(event) => write(event.currentTarget.checked ? [] : undefined)} />
                    {t("channels.nobody")}
                </label>
            )}
            <p class="field-help">
                {names.length ? t("channels.default") : t("channels.none")}. <a href={href("/settings", { tab: "channels" })}>{t("channels.edit")}</a>
            </p>
        </div>
    );
}
