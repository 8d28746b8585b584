// Confirmation and progress of an action on all matching jobs.
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../../api/client";
import { t as common } from "../../i18n/common";
import { Button, Dialog, Failure } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { LabelForm } from "./Dialogs";
import { doAll, look, nothingYet, type Acted, type BulkAction, type Left, type Progress, type Wanted } from "./match";
import { t } from "./words";

function LeftAlone({ left }: { left: Left[] }) {
    if (!left.length) return null;
    return (
        <ul class="left-alone faint">
            {left.map((item) => (
                <li key={item.reason}>{t("match.left", { n: item.count, text: item.message })}</li>
            ))}
        </ul>
    );
}

function Preview({ found }: { found: Acted }) {
    const more = found.touched - found.names.length;
    return (
        <>
            {found.names.length > 0 && (
                <ul class="dialog-list" tabIndex={0}>
                    {found.names.map((name) => (
                        <li key={name} class="mono preview-row">
                            {name}
                        </li>
                    ))}
                    {more > 0 && <li class="faint">{t("match.more", { n: more })}</li>}
                </ul>
            )}
            <LeftAlone left={found.left} />
        </>
    );
}

function Done({ what, progress, all }: { what: BulkAction; progress: Progress; all: number }) {
    return (
        <>
            <p role="status">{progress.isOver ? t(`did.${what}`, { n: progress.touched }) : t("match.doing", { n: progress.touched, all })}</p>
            <progress max={Math.max(1, all)} value={progress.isOver ? Math.max(1, all) : progress.touched} aria-label={t("match.doing", { n: progress.touched, all })} />
            <LeftAlone left={progress.left} />
            {progress.failed.length > 0 && (
                <ul class="dialog-list" tabIndex={0}>
                    {progress.failed.map((item) => (
                        <li key={item.name}>
                            <span class="mono">{item.name}</span> {item.error}
                        </li>
                    ))}
                </ul>
            )}
        </>
    );
}

interface Props {
    wanted: Wanted;
    onClose: () => void;
    onDone: () => void;
}

function DoDialog({ wanted, onClose, onDone }: Props) {
    const { what } = wanted;
    const found = useResource("match", (signal) => look(wanted, signal));
    const [progress, setProgress] = useState<Progress | null>(null);
    const [problem, setProblem] = useState<Problem | null>(null);
    const [busy, setBusy] = useState(false);
    const goesOn = useRef(true);
    useEffect(() => () => void (goesOn.current = false), []);
    const count = (what === "kill" ? found.data?.runs : found.data?.touched) ?? 0;

    const begin = async (): Promise<void> => {
        goesOn.current = true;
        setProblem(null);
        setBusy(true);
        const from = progress ?? nothingYet();
        setProgress(from);
        await doAll(wanted, from, (at) => {
            setProgress(at);
            return goesOn.current;
        }).catch((error: unknown) => setProblem(error instanceof Problem ? error : new Problem(0, String(error))));
        setBusy(false);
        onDone();
    };
    const name = t(what).replace("…", "");
    return (
        <Dialog
            title={found.data ? t(`${what}.ask`, { n: count }) : name}
            onClose={onClose}
            actions={
                <>
                    {busy ? (
                        <Button onClick={() => (goesOn.current = false)}>{t("match.stop")}</Button>
                    ) : (
                        <Button onClick={onClose}>{progress ? common("close") : common("cancel")}</Button>
                    )}
                    {!progress?.isOver && (
                        <Button
                            kind={what === "delete" || what === "kill" ? "danger" : "primary"}
                            disabled={busy || !found.data?.touched}
                            onClick={() => void begin()}
                        >
                            {progress ? t("match.go.on") : name}
                        </Button>
                    )}
                </>
            }
        >
            {!progress && what !== "label" && <p>{t(`${what}.text`)}</p>}
            {found.problem && <Failure problem={found.problem} onRetry={found.reload} />}
            {problem && <Failure problem={problem} />}
            {progress ? <Done what={wanted.what} progress={progress} all={found.data?.touched ?? 0} /> : found.data ? <Preview found={found.data} /> : <p class="faint">{common("loading")}</p>}
        </Dialog>
    );
}

export function MatchDialog(props: Props) {
    const [wanted, setWanted] = useState(props.wanted);
    if (wanted.what !== "label" || wanted.labels) return <DoDialog {...props} wanted={wanted} />;
    return (
        <Dialog title={t("label").replace("…", "")} onClose={props.onClose}>
            <LabelForm onClose={props.onClose} onLabel={(label, value) => setWanted({ ...wanted, labels: { [label]: value || null } })} />
        </Dialog>
    );
}
