// The review of the changes before saving, and the resolution of a conflict.
import { useState } from "preact/hooks";
import { toYaml } from "../../api/definition";
import { t as common } from "../../i18n/common";
import { Diff } from "../../ui/diff";
import { Button, Dialog } from "../../ui/parts";
import { compare, merge, same, type Conflict, type Draft } from "./draft";
import { t } from "./words";

export function Review(props: { before: Draft | null; after: Draft; busy: boolean; onSave: () => void; onClose: () => void }) {
    const { before, after } = props;
    const isSame = before !== null && same(before, after);
    const text = before === null ? "review.new" : isSame ? "review.same" : "review.change";
    return (
        <Dialog
            wide
            title={t("review.title")}
            onClose={props.onClose}
            actions={
                <>
                    <Button onClick={props.onClose}>{t("back.edit")}</Button>
                    <Button kind="primary" icon="check" disabled={isSame || props.busy} onClick={props.onSave}>
                        {t("save")}
                    </Button>
                </>
            }
        >
            <p>{t(text)}</p>
            {!isSame && <Diff before={before} after={after} label={t(text)} />}
        </Dialog>
    );
}

function Value({ value }: { value: unknown }) {
    if (value === undefined) return <span class="faint">{t("nothing")}</span>;
    return <pre>{toYaml(value).trim()}</pre>;
}

function ConflictRow({ row, side, onChoose }: { row: Conflict; side: "mine" | "theirs"; onChoose: (side: "mine" | "theirs") => void }) {
    return (
        <fieldset class="conflict">
            <legend>
                <code>{row.field.replaceAll(" ", " / ")}</code>
                {row.both && <span class="label warn">{t("conflict.both")}</span>}
            </legend>
            {(["theirs", "mine"] as const).map((name) => (
                <label key={name} class={side === name ? "is-chosen" : ""}>
                    <input type="radio" name={`conflict-${row.field}`} checked={side === name} onChange={() => onChoose(name)} />
                    <span>{t(`conflict.${name}`)}</span>
                    <Value value={row[name]} />
                </label>
            ))}
        </fieldset>
    );
}

export function ConflictDialog(props: {
    base: Draft;
    mine: Draft;
    theirs: Draft;
    onTake: (merged: Draft) => void;
    onClose: () => void;
}) {
    const { base, mine, theirs } = props;
    const rows = compare(base, mine, theirs);
    const [chosen, setChosen] = useState<ReadonlySet<string>>(
        () => new Set(rows.filter((row) => row.side === "mine").map((row) => row.field)),
    );
    const choose = (field: string, side: "mine" | "theirs"): void => {
        const next = new Set(chosen);
        if (side === "mine") next.add(field);
        else next.delete(field);
        setChosen(next);
    };
    return (
        <Dialog
            wide
            title={t("conflict.title")}
            onClose={props.onClose}
            actions={
                <>
                    <Button onClick={props.onClose}>{common("cancel")}</Button>
                    <Button kind="primary" icon="check" onClick={() => props.onTake(merge(mine, theirs, chosen))}>
                        {t("conflict.do")}
                    </Button>
                </>
            }
        >
            <p>{t(rows.length ? "conflict.text" : "conflict.none")}</p>
            {rows.length > 1 && (
                <div class="conflict-all">
                    <Button small onClick={() => setChosen(new Set())}>
                        {t("conflict.all.theirs")}
                    </Button>
                    <Button small onClick={() => setChosen(new Set(rows.map((row) => row.field)))}>
                        {t("conflict.all.mine")}
                    </Button>
                </div>
            )}
            {rows.map((row) => (
                <ConflictRow
                    key={row.field}
                    row={row}
                    side={chosen.has(row.field) ? "mine" : "theirs"}
                    onChoose={(side) => choose(row.field, side)}
                />
            ))}
        </Dialog>
    );
}
