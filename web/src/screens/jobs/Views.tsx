// Which columns are shown, and filters that are kept under a name; this browser remembers both.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { go, href, location } from "../../app/router";
import { t as common } from "../../i18n/common";
import { Button, Dialog, Menu } from "../../ui/parts";
import { t } from "./words";

export const columnNames = ["schedule", "recent", "last", "next", "p50", "owner", "labels"] as const;
export type ColumnName = (typeof columnNames)[number];

interface View {
    name: string;
    query: string;
}

function read<T>(key: string, otherwise: T): T {
    try {
        return (JSON.parse(localStorage.getItem(key) ?? "null") as T | null) ?? otherwise;
    } catch {
        return otherwise;
    }
}

// null: as wide as the window has room for.
const chosen = signal<ColumnName[] | null>(read("peal.jobs.columns", null));
const views = signal<View[]>(read("peal.jobs.views", []));

// The class of a column: none if it was chosen, else that of the width from which on it is shown; null: left out.
export function columnClass(name: ColumnName, otherwise: string): string | null {
    if (chosen.value === null) return otherwise;
    return chosen.value.includes(name) ? "" : null;
}

function choose(names: ColumnName[] | null): void {
    chosen.value = names;
    localStorage.setItem("peal.jobs.columns", JSON.stringify(names));
}

function keep(list: View[]): void {
    views.value = list;
    localStorage.setItem("peal.jobs.views", JSON.stringify(list));
}

function ColumnDialog({ onClose }: { onClose: () => void }) {
    const now = chosen.value ?? columnNames;
    const flip = (name: ColumnName): void => choose(columnNames.filter((other) => (other === name ? !now.includes(name) : now.includes(other))));
    return (
        <Dialog
            title={t("columns")}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={() => choose(null)}>{t("columns.auto")}</Button>
                    <Button kind="primary" onClick={onClose}>
                        {common("close")}
                    </Button>
                </>
            }
        >
            {columnNames.map((name) => (
                <label key={name} class="check">
                    <input type="checkbox" checked={now.includes(name)} onChange={() => flip(name)} />
                    {t(`column.${name}`)}
                </label>
            ))}
        </Dialog>
    );
}

function SaveDialog({ onClose }: { onClose: () => void }) {
    const [name, setName] = useState("");
    const save = (): void => {
        keep([...views.value.filter((view) => view.name !== name), { name, query: location.value.query.toString() }]);
        onClose();
    };
    return (
        <Dialog title={t("views.save")} onClose={onClose}>
            <form
                class="dialog-form"
                onSubmit={(event) => {
                    event.preventDefault();
                    save();
                }}
            >
                <label>
                    {t("views.name")}
                    <input required autofocus maxLength={60} value={name} onInput={(event) => setName(event.currentTarget.value)} />
                </label>
                <div class="dialog-actions">
                    <Button onClick={onClose}>{common("cancel")}</Button>
                    <button class="button primary">{t("views.do")}</button>
                </div>
            </form>
        </Dialog>
    );
}

export function ViewMenu() {
    const [open, setOpen] = useState<"columns" | "save" | null>(null);
    const query = location.value.query.toString();
    const here = views.value.find((view) => view.query === query);
    return (
        <>
            <Menu
                label={t("views")}
                icon="overview"
                items={[
                    ...views.value.map((view) => ({ icon: view === here ? ("check" as const) : ("jobs" as const), text: view.name, onClick: () => go(`${href("/jobs").slice(1)}?${view.query}`) })),
                    query && !here ? { icon: "plus" as const, text: t("views.save"), onClick: () => setOpen("save") } : null,
                    here ? { icon: "trash" as const, text: t("views.delete", { name: here.name }), onClick: () => keep(views.value.filter((view) => view !== here)) } : null,
                    { icon: "settings" as const, text: t("columns"), onClick: () => setOpen("columns") },
                ]}
            />
            {open === "columns" && <ColumnDialog onClose={() => setOpen(null)} />}
            {open === "save" && <SaveDialog onClose={() => setOpen(null)} />}
        </>
    );
}
