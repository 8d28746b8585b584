import { useEffect } from "preact/hooks";
import { api } from "../../api/client";
import { onLive, type RunEvent } from "../../api/live";
import { endStates, isEntry, openStates, type Entry, type Page, type Run } from "../../api/types";
import { href, location, replace, setQuery } from "../../app/router";
import { Icon } from "../../ui/icons";
import { ListEnd, useList } from "../../ui/list";
import { Button, Empty, Failure, Head, Incomplete, Panel, SearchField, useSearchText } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { RunsTable } from "./RunsTable";
import { stateWord } from "../../ui/status";
import { askFor, durations, readFilters, spans, type Filters } from "./filters";
import { t } from "./words";

type Row = Run | Entry;

function Choose(props: { label: string; value: string; choices: [string, string][]; onChange: (value: string) => void }) {
    return (
        <select aria-label={props.label} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
            {props.choices.map(([value, text]) => (
                <option key={value} value={value}>
                    {text}
                </option>
            ))}
        </select>
    );
}

function FilterBar({ filters }: { filters: Filters }) {
    const [text, setText] = useSearchText(filters.q, (q) => setQuery({ q: q || null }));
    const nodes = useResource("nodes", (signal) => api.optional<Page<{ node: string }>>("/nodes", {}, signal));
    const names = nodes.data?.items.map((item) => item.node) ?? [];
    const isPlain = location.value.query.size === 0;
    return (
        <div class="filters" role="search">
            <SearchField value={text} label={t("search")} onInput={setText} />
            <Choose
                label={t("state")}
                value={filters.state}
                choices={[
                    ["", t("state.any")],
                    ["failed,timed_out,killed,lost", `${stateWord("failed")}…`],
                    ...[...openStates.filter((state) => state === "running" || state === "queued"), ...endStates].map(
                        (state): [string, string] => [state, stateWord(state)],
                    ),
                ]}
                onChange={(state) => setQuery({ state: state || null })}
            />
            <Choose
                label={t("time")}
                value={filters.span}
                choices={[...(Object.keys(spans) as (keyof typeof spans)[]), "all" as const].map((span) => [span, t(`time.${span}`)])}
                onChange={(span) => setQuery({ time: span === "24h" ? null : span })}
            />
            <Choose
                label={t("duration.min")}
                value={filters.longer}
                choices={[["", t("duration.any")], ...durations.map((value): [string, string] => [value, `> ${value}`])]}
                onChange={(longer) => setQuery({ longer: longer || null })}
            />
            {(names.length > 1 || filters.node) && (
                <Choose
                    label={t("node")}
                    value={filters.node}
                    choices={[["", t("node.any")], ...names.map((name): [string, string] => [name, name])]}
                    onChange={(node) => setQuery({ node: node || null })}
                />
            )}
            <label class="check">
                <input
                    type="checkbox"
                    checked={filters.ledger}
                    onChange={(event) => setQuery({ ledger: event.currentTarget.checked ? "yes" : null })}
                />
                {t("ledger")}
            </label>
            {filters.job && (
                <button class="chip" type="button" onClick={() => setQuery({ job: null })}>
                    {t("only.job", { job: filters.job })} <Icon name="cross" />
                </button>
            )}
            {!isPlain && (
                <Button
                    kind="plain"
                    small
                    icon="cross"
                    onClick={() => {
                        replace(href("/runs"));
                    }}
                >
                    {t("clear")}
                </Button>
            )}
        </div>
    );
}

// A run that is shown already changes in its place.
function merge(page: Page<Row>, event: RunEvent): Page<Row> {
    return {
        ...page,
        items: page.items.map((row) => (!isEntry(row) && row.run_id === event.run_id ? { ...row, ...event } : row)),
    };
}

export default function RunsScreen() {
    const filters = readFilters(location.value.query);
    const list = useList<Row>(`runs ${JSON.stringify(filters)}`, (cursor, limit, signal) =>
        api.get<Page<Row>>("/runs", { ...askFor(filters, Date.now()), cursor, limit }, signal),
    );
    const soon = useThrottled(list.reload, 2000);
    useEffect(() => onLive("reset", soon), []);
    useEffect(() => onLive("entry", () => (filters.ledger ? soon() : undefined)), [filters.ledger]);
    useEffect(() => {
        if (!filters.ledger) return undefined;
        const timer = setInterval(soon, 15_000); // ticks that are taken out come without an event
        return () => clearInterval(timer);
    }, [filters.ledger]);
    useEffect(
        () =>
            onLive("run", (event) => {
                list.set((page) => merge(page, event));
                soon();
            }),
        [],
    );
    return (
        <>
            <Head title={t("title")} />
            <FilterBar filters={filters} />
            {list.problem && <Failure problem={list.problem} onRetry={list.reload} />}
            <Incomplete nodes={list.incomplete} />
            <Panel>
                {list.items && list.items.length > 0 && <RunsTable rows={list.items} />}
                {list.items?.length === 0 && !list.loading && (
                    <Empty icon="runs" title={t("none")}>
                        {t("none.text")}
                    </Empty>
                )}
                <ListEnd list={list} />
            </Panel>
        </>
    );
}
