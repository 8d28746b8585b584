// Confirmation of an action: the jobs, and its effect.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Job, Run } from "../../api/types";
import { go, hrefs } from "../../app/router";
import { t as common } from "../../i18n/common";
import { Button, Dialog } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { jobState, Status } from "../../ui/status";
import { act, clone, kill, openRuns, remove, rename, setLabel, type SimpleAction } from "./actions";
import { t } from "./words";

export type Asked = { what: SimpleAction | "delete" | "kill" | "label"; jobs: Job[] } | { what: "clone" | "rename"; jobs: [Job] };

function JobNames({ jobs }: { jobs: Job[] }) {
    return (
        <ul class="dialog-list" tabIndex={0}>
            {jobs.map((job) => (
                <li key={job.name} class="preview-row">
                    <span class="mono">{job.name}</span>
                    <Status state={jobState(job)} />
                </li>
            ))}
        </ul>
    );
}

interface Props {
    asked: Asked;
    onClose: () => void;
    onDone: () => void;
}

// Jobs that the action would not change are listed apart.
function touched(what: string, jobs: Job[]): Job[] {
    if (what === "pause") return jobs.filter((job) => !job.status.paused);
    if (what === "resume") return jobs.filter((job) => job.status.paused);
    return jobs;
}

function SimpleDialog({ asked, onClose, onDone }: Props) {
    const what = asked.what as SimpleAction | "delete";
    const jobs = touched(what, asked.jobs);
    const left = asked.jobs.length - jobs.length;
    const names = jobs.map((job) => job.name);
    const confirm = (): void => {
        onClose();
        void (what === "delete" ? remove(names, onDone) : act(what, names, onDone)).then(onDone);
    };
    return (
        <Dialog
            title={t(`${what}.ask`, { n: jobs.length })}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{common("cancel")}</Button>
                    <Button kind={what === "delete" ? "danger" : "primary"} disabled={!jobs.length} onClick={confirm}>
                        {t(what).replace("…", "")}
                    </Button>
                </>
            }
        >
            <p>{t(`${what}.text`)}</p>
            <JobNames jobs={jobs} />
            {left > 0 && <p class="faint">{t("skipped", { n: left })}</p>}
        </Dialog>
    );
}

function KillDialog({ asked, onClose, onDone }: Props) {
    const runs = useResource<Run[]>("open runs", () => openRuns(asked.jobs.map((job) => job.name)));
    const found = runs.data ?? [];
    return (
        <Dialog
            title={t("kill.ask", { n: found.length })}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{common("cancel")}</Button>
                    <Button
                        kind="danger"
                        disabled={!found.length}
                        onClick={() => {
                            onClose();
                            void kill(found).then(onDone);
                        }}
                    >
                        {t("kill")}
                    </Button>
                </>
            }
        >
            <p>{runs.data && !found.length ? t("kill.nothing") : t("kill.text")}</p>
            {found.length > 0 && (
                <ul class="dialog-list" tabIndex={0}>
                    {found.map((run) => (
                        <li key={run.run_id} class="preview-row">
                            <span class="mono">{run.job}</span>
                            <Status state={run.state} />
                        </li>
                    ))}
                </ul>
            )}
        </Dialog>
    );
}

// `children` is what the label is for.
export function LabelForm(props: { onClose: () => void; onLabel: (label: string, value: string) => void; children?: ComponentChildren }) {
    const [label, setName] = useState("");
    const [value, setValue] = useState("");
    return (
        <form
            class="dialog-form"
            onSubmit={(event) => {
                event.preventDefault();
                props.onLabel(label, value);
            }}
        >
            <label>
                {t("label.name")}
                <input required pattern="[A-Za-z0-9._\/\-]{1,63}" value={label} onInput={(e) => setName(e.currentTarget.value)} />
            </label>
            <label>
                {t("label.value")}
                <input value={value} maxLength={255} onInput={(e) => setValue(e.currentTarget.value)} />
            </label>
            {props.children}
            <div class="dialog-actions">
                <Button onClick={props.onClose}>{common("cancel")}</Button>
                <button class="button primary">{t("label.do")}</button>
            </div>
        </form>
    );
}

function LabelDialog({ asked, onClose, onDone }: Props) {
    const names = asked.jobs.map((job) => job.name);
    return (
        <Dialog title={t("label.ask", { n: names.length })} onClose={onClose}>
            <LabelForm
                onClose={onClose}
                onLabel={(label, value) => {
                    onClose();
                    void setLabel(asked.jobs, label, value, onDone).then(onDone);
                }}
            >
                <JobNames jobs={asked.jobs} />
            </LabelForm>
        </Dialog>
    );
}

function CloneDialog({ asked, onClose, onDone }: Props) {
    const source = asked.jobs[0]?.name ?? "";
    const [name, setName] = useState(`${source}-copy`);
    const [paused, setPaused] = useState(true);
    return (
        <Dialog title={t("clone.title", { name: source })} onClose={onClose}>
            <form
                class="dialog-form"
                onSubmit={(event) => {
                    event.preventDefault();
                    void clone(source, name, paused).then((made) => {
                        if (!made) return;
                        onClose();
                        onDone();
                        go(hrefs.job(name));
                    });
                }}
            >
                <label>
                    {t("clone.name")}
                    <input required autofocus value={name} onInput={(e) => setName(e.currentTarget.value)} />
                </label>
                <label class="check">
                    <input type="checkbox" checked={paused} onChange={(e) => setPaused(e.currentTarget.checked)} />
                    {t("clone.paused")}
                </label>
                <div class="dialog-actions">
                    <Button onClick={onClose}>{common("cancel")}</Button>
                    <button class="button primary">{t("clone.do")}</button>
                </div>
            </form>
        </Dialog>
    );
}

function RenameDialog({ asked, onClose }: Props) {
    const source = asked.jobs[0]?.name ?? "";
    const [name, setName] = useState(source);
    return (
        <Dialog title={t("rename.title", { name: source })} onClose={onClose}>
            <form
                class="dialog-form"
                onSubmit={(event) => {
                    event.preventDefault();
                    void rename(source, name).then((done) => {
                        if (!done) return;
                        onClose();
                        go(hrefs.job(name));
                    });
                }}
            >
                <p>{t("rename.text")}</p>
                <label>
                    {t("rename.name")}
                    <input required autofocus value={name} onInput={(e) => setName(e.currentTarget.value)} />
                </label>
                <div class="dialog-actions">
                    <Button onClick={onClose}>{common("cancel")}</Button>
                    <button class="button primary" disabled={name === source}>
                        {t("rename.do")}
                    </button>
                </div>
            </form>
        </Dialog>
    );
}

export function JobDialog(props: Props) {
    switch (props.asked.what) {
        case "kill":
            return <KillDialog {...props} />;
        case "label":
            return <LabelDialog {...props} />;
        case "clone":
            return <CloneDialog {...props} />;
        case "rename":
            return <RenameDialog {...props} />;
        default:
            return <SimpleDialog {...props} />;
    }
}
