// Who changed what, newest first.
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import type { Page } from "../../api/types";
import { hrefs, location, setQuery } from "../../app/router";
import { Diff } from "../../ui/diff";
import { ListEnd, useList } from "../../ui/list";
import { Moment } from "../../ui/moments";
import { Button, Empty, Failure, Incomplete, Panel, SearchField, useDelayed } from "../../ui/parts";
import { t } from "./words";

interface Change {
    id: string;
    at: string;
    actor: string;
    via: string;
    address: string | null;
    action: string;
    target: { kind: string; name: string } | null;
    job: string | null;
    detail: string | null;
    before: unknown;
    after: unknown;
}

// What is done to a calendar, "calendar_create", is said as of a job: "created".
function said(group: "action" | "kind", word: string): string {
    const keys = [`${group}.${word}`, `${group}.${word.replace(/^.*_/, "")}`];
    const key = keys.find(t.has);
    return key ? t(key as Parameters<typeof t>[0]) : word;
}

// A token is named by its purpose, which is in the detail.
function Target({ change }: { change: Change }) {
    const { target } = change;
    if (!target) return null;
    const link = target.kind === "job" ? hrefs.job(target.name) : target.kind === "run" ? hrefs.run(target.name) : null;
    return (
        <>
            <span class="faint">{said("kind", target.kind)}</span> {link ? <a href={link}>{(target.kind === "run" && change.job) || target.name}</a> : target.kind !== "token" && <strong>{target.name}</strong>}
        </>
    );
}

function ChangeRow({ change }: { change: Change }) {
    const [isOpen, setIsOpen] = useState(false);
    const hasDiff = JSON.stringify(change.before) !== JSON.stringify(change.after); // a deletion does not change the definition
    return (
        <li>
            <div class="change">
                <Moment at={change.at} />
                <strong>{change.actor}</strong>
                <span class="label">{said("action", change.action)}</span>
                <span class="change-target">
                    <Target change={change} /> {change.detail && <span class="faint">{change.detail}</span>}
                </span>
                <span class="faint small">{change.address ? t("audit.via", { via: change.via, address: change.address }) : change.via}</span>
                {hasDiff && (
                    <Button small pressed={isOpen} onClick={() => setIsOpen(!isOpen)}>
                        {t("audit.diff")}
                    </Button>
                )}
            </div>
            {isOpen && <Diff before={change.before} after={change.after} label={t("audit.diff")} />}
        </li>
    );
}

export function Audit() {
    const query = location.value.query;
    const job = query.get("job") ?? "";
    const [text, setText] = useState(query.get("q") ?? "");
    const late = useDelayed(text, 250);
    useEffect(() => {
        if (late !== (query.get("q") ?? "")) setQuery({ q: late || null });
    }, [late]);
    const list = useList<Change>(`audit ${late} ${job}`, (cursor, limit, signal) =>
        api.get<Page<Change>>("/audit", { q: late, job, cursor, limit }, signal),
    );
    return (
        <>
            <div class="filters" role="search">
                <SearchField value={text} label={t("audit.search")} onInput={setText} />
                <input
                    type="search"
                    aria-label={t("audit.job")}
                    placeholder={t("audit.job")}
                    value={job}
                    onChange={(event) => setQuery({ job: event.currentTarget.value || null })}
                />
            </div>
            <Incomplete nodes={list.incomplete} />
            <Panel>
                {list.problem && <Failure problem={list.problem} onRetry={list.reload} />}
                {list.items && !list.items.length && <Empty icon="search" title={t("audit.none")} />}
                <ul class="changes">
                    {list.items?.map((change) => (
                        <ChangeRow key={change.id} change={change} />
                    ))}
                </ul>
                <ListEnd list={list} />
            </Panel>
        </>
    );
}
