// Creates or edits a job, as a form or as YAML, with a review of the changes before saving.
import { useEffect, useState } from "preact/hooks";
import { api, jobPath, Problem, type ProblemItem } from "../../api/client";
import { definitionOf } from "../../api/definition";
import { onLive } from "../../api/live";
import type { Job } from "../../api/types";
import { go, href, hrefs, unsaved } from "../../app/router";
import { localZone } from "../../app/preferences";
import type { ScreenProps } from "../../app/screens";
import { may, mayIn, maySomewhere } from "../../app/session";
import { toastDone, toastProblem } from "../../app/toasts";
import { t as common } from "../../i18n/common";
import { Icon } from "../../ui/icons";
import { Button, Failure, Head } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { t as more } from "./builder_words";
import { ConflictDialog, Review } from "./Dialogs";
import { isWorkflow, same, type Draft } from "./draft";
import { Form } from "./Form";
import { hintOf, type FormProps, type Mistake } from "./Field";
import { allMistakes } from "./mistakes";
import { Starts } from "./Starts";
import { title } from "./titles";
import { Trial } from "./Trial";
import { t } from "./words";
import { YamlForm, type TextState } from "./YamlForm";
import "./editor.css";

function fresh(): Draft {
    const [first] = mayIn("edit");
    return { name: first ? `${first}/` : "", schedule: "", timezone: localZone, command: [] };
}

// To the field of the form that the pointer names, or one that it is within.
function goTo(pointer: string): void {
    const parts = pointer.split("/").slice(1);
    const ids = [parts.join("-"), parts.slice(0, 2).join("-"), parts[0], `${parts[0]}-0`];
    const field = ids.map((id) => document.getElementById(`f-${id}`)).find((found) => found !== null);
    const folded = field?.closest("details");
    if (folded) folded.open = true;
    field?.focus();
    field?.scrollIntoView({ block: "center" });
}

// A mistake that the server has told stays until its field is another one.
function isAsChecked(item: ProblemItem, checked: Draft | null, draft: Draft): boolean {
    const field = item.pointer.split("/")[1] ?? "";
    return !field || checked === null || same(checked[field], draft[field]);
}

function Wrong({ items }: { items: Mistake[] }) {
    return (
        <div class="failure" role="alert">
            <Icon name="warning" />
            <div>
                <p>{t("wrong", { n: items.length })}</p>
                <ul class="wrong-list">
                    {items.map((item) => (
                        <li key={item.pointer + item.message}>
                            <button type="button" class="link" onClick={() => goTo(item.pointer)}>
                                {item.message}
                            </button>{" "}
                            {hintOf(item)}
                        </li>
                    ))}
                </ul>
            </div>
        </div>
    );
}

function Editor({ job, isNew }: { job: Job | null; isNew: boolean }) {
    const [base, setBase] = useState<Draft>(() => (job ? definitionOf(job) : fresh()));
    const [revision, setRevision] = useState(job?.revision ?? 0);
    const [draft, setDraft] = useState<Draft>(base);
    const [wanted, setMode] = useState<"form" | "yaml">("form");
    const [textState, setTextState] = useState<TextState>("good");
    const [problem, setProblem] = useState<Problem | null>(null);
    const [reviewed, setReviewed] = useState<Draft | null>(null);
    const [theirs, setTheirs] = useState<Job | null>(null);
    const [isOld, setIsOld] = useState(false);
    const [busy, setBusy] = useState(false);
    const [checked, setChecked] = useState<Draft | null>(null); // what the problem is about
    const [isTrying, setIsTrying] = useState(false);
    const name = String(isNew ? (draft["name"] ?? "") : job?.name);
    const isForeign = isNew && maySomewhere("edit") && !may("edit", name); // in no namespace of theirs
    const mayEdit = isForeign || may("edit", name);
    const mayTry = mayEdit && !isForeign && may("define", name) && may("operate", name);
    const isChanged = !same(base, draft);
    const mode = isWorkflow(draft) ? "yaml" : wanted;
    const isTaken = isNew && problem?.status === 412;

    useEffect(
        () => onLive("job", (event) => setIsOld((old) => old || (!isNew && event.job === name && event.revision > revision))),
        [name, revision],
    );
    useEffect(() => {
        const ask = (event: BeforeUnloadEvent): void => {
            if (isChanged) event.preventDefault();
        };
        window.addEventListener("beforeunload", ask);
        unsaved.value = isChanged && mayEdit;
        return () => {
            window.removeEventListener("beforeunload", ask);
            unsaved.value = false;
        };
    }, [isChanged, mayEdit]);

    const showConflict = async (): Promise<void> => {
        setReviewed(null);
        setTheirs(await api.get<Job>(jobPath(name)));
    };
    const fail = async (error: Problem): Promise<void> => {
        setChecked(draft);
        setProblem(error);
        if (error.status !== 422) return;
        const check = (rest: Draft): Promise<unknown> => api.put(jobPath(name || "-"), rest, { query: { dry_run: true } });
        const errors = await allMistakes(draft, error, check);
        setProblem(new Problem(error.status, error.detail, error.requestId, errors, error.body));
    };
    // Saves the job, or asks for a dry run. Someone else's save is a conflict, not a failure.
    const put = async <T,>(dryRun: boolean): Promise<T | null> => {
        setBusy(true);
        setProblem(null);
        try {
            const headers: Record<string, string> = isNew ? { "If-None-Match": "*" } : { "If-Match": `"${revision}"` };
            return await api.put<T>(jobPath(name || "-"), draft, { headers, query: dryRun ? { dry_run: true } : {} });
        } catch (error) {
            setReviewed(null);
            if (!(error instanceof Problem)) toastProblem(error);
            else if (error.status === 412 && !isNew) await showConflict().catch(toastProblem);
            else await fail(error);
            return null;
        } finally {
            setBusy(false);
        }
    };
    const review = async (): Promise<void> => {
        const answer = await put<Job>(true);
        if (answer) setReviewed(definitionOf(answer));
    };
    const save = async (): Promise<void> => {
        const saved = await put<Job>(false);
        if (!saved) return;
        setBase(draft);
        unsaved.value = false;
        toastDone(t("saved", { name }));
        go(hrefs.job(name));
    };
    const takeOver = (merged: Draft): void => {
        if (!theirs) return;
        setBase(definitionOf(theirs));
        setRevision(theirs.revision);
        setDraft(merged);
        setTheirs(null);
        setIsOld(false);
    };
    const wrongName = isTaken ? t("taken") : isForeign ? t("foreign", { names: mayIn("edit").map((item) => `${item}/`).join(", ") }) : null;
    const mistakes: Mistake[] = wrongName
        ? [{ pointer: "/name", line: 0, column: 0, message: wrongName }]
        : (problem?.errors ?? []).filter((item) => isAsChecked(item, checked, draft)).map((item) => item as Mistake);
    const form: FormProps = { name, draft, mayEdit, mayDefine: isForeign || may("define", name), mistakes, onChange: setDraft };
    return (
        <form
            class="editor"
            onSubmit={(event) => {
                event.preventDefault();
                if (mayEdit && textState === "good" && !isForeign) void review();
            }}
        >
            <Head
                above={
                    <>
                        <a href="#/jobs">{t("jobs")}</a>
                        <Icon name="chevron" />
                        {!isNew && (
                            <>
                                <a href={hrefs.job(name)}>{name}</a>
                                <Icon name="chevron" />
                            </>
                        )}
                    </>
                }
                title={isNew ? title("title.new") : title("title", { name })}
            >
                <div class="segments" role="radiogroup" aria-label={t("mode")}>
                    {(["form", "yaml"] as const).map((item) => (
                        <label key={item}>
                            <input
                                type="radio"
                                name="mode"
                                checked={mode === item}
                                disabled={item === "form" && (textState === "unread" || isWorkflow(draft))}
                                onChange={() => setMode(item)}
                            />
                            <span>{t(`mode.${item}`)}</span>
                        </label>
                    ))}
                </div>
                <a class="button" href={isNew ? "#/jobs" : hrefs.job(name)}>
                    {common("cancel")}
                </a>
                {mayTry && (
                    <Button icon="play" disabled={busy || textState !== "good" || !name} onClick={() => setIsTrying(true)}>
                        {more("trial")}
                    </Button>
                )}
                {mayEdit && (
                    <button class="button primary" disabled={busy || textState !== "good" || isForeign}>
                        <Icon name="check" />
                        {t("review")}
                    </button>
                )}
            </Head>
            {!mayEdit && <p class="note">{t(isNew ? "no.right.new" : "no.right")}</p>}
            {isOld && !theirs && (
                <p class="note warn changed">
                    {t("changed")}
                    <Button small onClick={() => void showConflict().catch(toastProblem)}>
                        {t("changed.look")}
                    </Button>
                </p>
            )}
            {isTaken && (
                <p class="note bad changed">
                    {t("taken")} <a href={href(`/jobs/${encodeURIComponent(name)}/edit`)}>{t("taken.open")}</a>
                </p>
            )}
            {problem && !isTaken && (mistakes.length ? <Wrong items={mistakes} /> : !problem.errors.length && <Failure problem={problem} />)}
            {isNew && mayEdit && mode === "form" && <Starts name={name} onChoose={setDraft} />}
            {mode === "form" ? (
                <Form form={form} isNew={isNew} />
            ) : (
                <YamlForm draft={draft} onChange={setDraft} disabled={!mayEdit} onState={setTextState} />
            )}
            {isTrying && (
                <Trial
                    name={name}
                    draft={draft}
                    onWrong={(error) => {
                        setIsTrying(false);
                        void fail(error);
                    }}
                    onClose={() => setIsTrying(false)}
                />
            )}
            {reviewed && (
                <Review
                    before={isNew ? null : base}
                    after={reviewed}
                    busy={busy}
                    onSave={() => void save()}
                    onClose={() => setReviewed(null)}
                />
            )}
            {theirs && (
                <ConflictDialog
                    base={base}
                    mine={draft}
                    theirs={definitionOf(theirs)}
                    onTake={takeOver}
                    onClose={() => setTheirs(null)}
                />
            )}
        </form>
    );
}

export default function EditorScreen({ params }: ScreenProps) {
    const name = params["name"];
    const job = useResource<Job | null>(`edit ${name ?? ""}`, async (signal) =>
        name === undefined ? null : api.get<Job>(jobPath(name), {}, signal),
    );
    if (job.problem) return <Failure problem={job.problem} onRetry={job.reload} />;
    if (job.loading) return null;
    return <Editor key={name ?? "+"} job={job.data} isNew={name === undefined} />;
}
