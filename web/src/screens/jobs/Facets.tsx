// Beside the search: how many jobs match, the folders below this one, owners, labels and nodes to choose from.
import { useEffect } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import { href, setQuery } from "../../app/router";
import { Icon } from "../../ui/icons";
import { useResource, useThrottled } from "../../ui/resource";
import type { Filter } from "./match";
import { t } from "./words";

interface Value {
    value: string;
    count: number;
}

export interface Facets {
    total: number;
    matched: number;
    status: Value[];
    owners: Value[];
    labels: Value[];
    nodes?: Value[]; // an older agent has none
    folders: Value[];
}

const AGAIN_MS = 10_000; // counting 100,000 jobs takes the agent a moment

// null: not there yet, or the agent is too old to tell.
export function useFacets(filter: Filter): Facets | null {
    const facets = useResource(`facets ${JSON.stringify(filter)}`, (signal) => api.optional<Facets>("/jobs:facets", { ...filter }, signal));
    const soon = useThrottled(facets.reload, AGAIN_MS);
    useEffect(() => {
        const stops = [onLive("job", soon), onLive("run", soon), onLive("reset", soon)];
        return () => stops.forEach((stop) => stop());
    }, []);
    return facets.data;
}

export function countOf(values: Value[] | undefined, value: string): string {
    const found = values?.find((item) => item.value === value);
    return found ? ` (${found.count.toLocaleString("en")})` : "";
}

function Choose(props: { label: string; any: string; value: string; values: Value[]; onChoose: (value: string | null) => void }) {
    const { value, values } = props;
    if (!values.length && !value) return null;
    return (
        <select aria-label={props.label} value={value} onChange={(event) => props.onChoose(event.currentTarget.value || null)}>
            <option value="">{props.any}</option>
            {!values.some((item) => item.value === value) && value && <option value={value}>{value}</option>}
            {values.map((item) => (
                <option key={item.value} value={item.value}>
                    {item.value} ({item.count})
                </option>
            ))}
        </select>
    );
}

export function FacetChoices({ filter, facets }: { filter: Filter; facets: Facets | null }) {
    return (
        <>
            <Choose label={t("column.owner")} any={t("owner.any")} value={filter.owner} values={facets?.owners ?? []} onChoose={(owner) => setQuery({ owner })} />
            <Choose label={t("column.labels")} any={t("label.any")} value={filter.label} values={facets?.labels ?? []} onChoose={(label) => setQuery({ label })} />
            <Choose label={t("node")} any={t("node.any")} value={filter.node} values={facets?.nodes ?? []} onChoose={(node) => setQuery({ node })} />
        </>
    );
}

// "11 of 20,000 jobs", and the tree of folders: the way down, and the next level.
export function Folders({ filter, facets }: { filter: Filter; facets: Facets | null }) {
    if (!facets) return null;
    const { total, matched, folders } = facets;
    const way = filter.folder ? filter.folder.split("/") : [];
    const to = (folder: string): string => href("/jobs", { ...filter, folder });
    const number = (n: number): string => n.toLocaleString("en");
    return (
        <div class="folders">
            <span class="num" role="status">
                {matched === total ? t("count.all", { n: total, total: number(total) }) : t("count", { matched: number(matched), total: number(total) })}
            </span>
            {way.length > 0 && (
                <nav class="folder-way" aria-label={t("folder")}>
                    <a href={to("")}>{t("folder.all")}</a>
                    {way.map((part, i) => (
                        <span key={i}>
                            <Icon name="chevron" />
                            <a href={to(way.slice(0, i + 1).join("/"))} aria-current={i === way.length - 1 ? "page" : undefined}>
                                {part}
                            </a>
                        </span>
                    ))}
                </nav>
            )}
            {folders.map((folder) => (
                <a key={folder.value} class="label" href={to(folder.value)}>
                    {folder.value.slice(filter.folder ? filter.folder.length + 1 : 0)}/ <span class="faint num">{folder.count}</span>
                </a>
            ))}
        </div>
    );
}
