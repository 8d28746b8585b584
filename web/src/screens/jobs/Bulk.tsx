// The toolbar of the selected jobs: selected by hand, or all that match the filters.
import { useState } from "preact/hooks";
import { isAway } from "../../api/live";
import { attempt } from "../../app/toasts";
import type { IconName } from "../../ui/icons";
import { Button } from "../../ui/parts";
import { look, type BulkAction, type Filter } from "./match";
import { t } from "./words";

const actions: [BulkAction, IconName][] = [
    ["run", "play"],
    ["pause", "pause"],
    ["resume", "play"],
    ["kill", "stop"],
    ["label", "tag"],
    ["delete", "trash"],
];

interface Props {
    chosen: string; // in words
    mayEdit: boolean;
    onAsk: (what: BulkAction) => void;
    onClear: () => void;
    // Offered when more jobs match than are shown.
    onAll?: (() => void) | undefined;
}

export function BulkBar({ chosen, mayEdit, onAsk, onClear, onAll }: Props) {
    return (
        <div class="bulk" role="toolbar" aria-label={chosen} inert={isAway.value}>
            <strong class="num">{chosen}</strong>
            {onAll && (
                <Button small kind="plain" onClick={onAll}>
                    {t("match.offer")}
                </Button>
            )}
            {actions.map(
                ([what, icon]) =>
                    (mayEdit || (what !== "label" && what !== "delete")) && (
                        <Button key={what} small icon={icon} onClick={() => onAsk(what)} {...(what === "delete" ? { kind: "danger" } : {})}>
                            {t(what)}
                        </Button>
                    ),
            )}
            <Button small kind="plain" icon="cross" title={t("unchoose")} onClick={onClear} />
        </div>
    );
}

// All jobs that match the filters, until the filters change; counted by the server.
export function useEverything(filter: Filter): { count: number | null; choose: () => void; clear: () => void } {
    const [chosen, setChosen] = useState<{ key: string; count: number } | null>(null);
    const key = JSON.stringify(filter);
    return {
        count: chosen?.key === key ? chosen.count : null,
        choose: () => void attempt(() => look({ what: "run", filter })).then((found) => found && setChosen({ key, count: found.matched })),
        clear: () => setChosen(null),
    };
}
