// Times in which nothing is started: now, to come, and those that have ended in the last week.
import { useState } from "preact/hooks";
import { api } from "../../api/client";
import type { Maintenance as Item, Page } from "../../api/types";
import { maintenanceTurn } from "../../app/maintenance";
import { zone } from "../../app/preferences";
import { may, mayIn, maySomewhere } from "../../app/session";
import { toastDone } from "../../app/toasts";
import { instantOf, Moment, ZoneNote } from "../../ui/moments";
import { t as mute } from "../../ui/mute_words";
import { Button, Empty, Failure, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { Ask } from "./Ask";
import { t } from "./guards_words";
import { t as words } from "./words";

const hours = { "1h": 1, "4h": 4, "1d": 24, "7d": 168, "": 0 };
const states = ["active", "coming", "over"];
const HOUR_MS = 3_600_000;

function StartDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
    const own = mayIn("admin");
    const [namespace, setNamespace] = useState(own[0] ?? "");
    const [from, setFrom] = useState("");
    const [span, setSpan] = useState<keyof typeof hours>("1h");
    const [reason, setReason] = useState("");
    const start = async (): Promise<void> => {
        const at = from ? Date.parse(instantOf(from)) : Date.now();
        await api.post("/maintenance", {
            ...(namespace ? { namespace } : {}),
            ...(from ? { from: new Date(at).toISOString() } : {}),
            ...(span ? { to: new Date(at + hours[span] * HOUR_MS).toISOString() } : {}),
            ...(reason ? { reason } : {}),
        });
        toastDone(words("saved"));
        onDone();
    };
    return (
        <Ask title={t("maintenance.new").replace("…", "")} action={words("user.add")} onDo={start} onClose={onClose}>
            <p>{t("maintenance.text")}</p>
            <label>
                {t(own[0] ? "what" : "namespace")}
                {own[0] ? (
                    <select value={namespace} onChange={(event) => setNamespace(event.currentTarget.value)}>
                        {own.map((name) => (
                            <option key={name}>{name}</option>
                        ))}
                    </select>
                ) : (
                    <input value={namespace} autocomplete="off" spellcheck={false} onInput={(event) => setNamespace(event.currentTarget.value)} />
                )}
            </label>
            <label>
                {t("from.text", { zone: zone.value })}
                <input type="datetime-local" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
            </label>
            <label>
                {mute("for")}
                <select value={span} onChange={(event) => setSpan(event.currentTarget.value as typeof span)}>
                    {(Object.keys(hours) as (typeof span)[]).map((name) => (
                        <option key={name} value={name}>
                            {name ? mute(`for.${name}`) : t("for.")}
                        </option>
                    ))}
                </select>
            </label>
            <label>
                {t("reason")}
                <input value={reason} maxLength={150} onInput={(event) => setReason(event.currentTarget.value)} />
            </label>
        </Ask>
    );
}

export function Maintenance() {
    const turn = maintenanceTurn.value;
    const list = useResource(`maintenance ${turn}`, (signal) => api.get<Page<Item>>("/maintenance", {}, signal));
    const [isNew, setNew] = useState(false);
    const [ended, setEnded] = useState<Item | null>(null);
    if (list.problem) return <Failure problem={list.problem} onRetry={list.reload} />;
    if (!list.data) return null;
    const items = [...list.data.items].sort((a, b) => states.indexOf(a.state) - states.indexOf(b.state) || a.from.localeCompare(b.from));
    const done = (): void => {
        setNew(false);
        setEnded(null);
        maintenanceTurn.value++;
    };
    const end = async ({ id }: Item): Promise<void> => {
        await api.delete(`/maintenance/${id}`);
        toastDone(words("saved"));
        done();
    };
    return (
        <Panel
            title={words("tab.maintenance")}
            beside={
                maySomewhere("admin") && (
                    <Button small icon="plus" onClick={() => setNew(true)}>
                        {t("maintenance.new")}
                    </Button>
                )
            }
        >
            {!items.length && <Empty icon="pause" title={t("maintenance.none")} />}
            {items.length > 0 && (
                <div class="table-scroll" tabIndex={0} role="region" aria-label={words("tab.maintenance")}>
                    <table class="table">
                        <thead>
                            <tr>
                                <th>{t("what")}</th>
                                <th>{words("state")}</th>
                                <th>
                                    {t("from")} <ZoneNote />
                                </th>
                                <th>
                                    {t("to")} <ZoneNote />
                                </th>
                                <th>{t("reason")}</th>
                                <th>{t("by")}</th>
                                <th />
                            </tr>
                        </thead>
                        <tbody>
                            {items.map((item) => (
                                <tr key={item.id} class={item.state === "over" ? "faint" : ""}>
                                    <td>
                                        <strong>{item.namespace ? `${item.namespace}/` : t("all")}</strong>
                                    </td>
                                    <td>{t(`state.${item.state}`)}</td>
                                    <td>
                                        <Moment at={item.from} bare />
                                    </td>
                                    <td>{item.to ? <Moment at={item.to} bare /> : t("for.")}</td>
                                    <td>{item.reason}</td>
                                    <td>{item.set_by}</td>
                                    <td class="right">
                                        {item.state !== "over" && may("admin", item.namespace ? `${item.namespace}/` : undefined) && (
                                            <Button small onClick={() => setEnded(item)}>
                                                {t("end")}
                                            </Button>
                                        )}
                                    </td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
            {isNew && <StartDialog onClose={() => setNew(false)} onDone={done} />}
            {ended && (
                <Ask danger title={t("end.ask")} action={t("end")} onDo={() => end(ended)} onClose={() => setEnded(null)}>
                    <p>{t("end.text")}</p>
                </Ask>
            )}
        </Panel>
    );
}
