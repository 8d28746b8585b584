// A run with something in hand: a field for each parameter that the job declares, and one for a file; and node, time limit
// and environment of this run, if they are to be others than the job's.
import { useState } from "preact/hooks";
import { api, jobPath, Problem } from "../../api/client";
import type { Job, JobParam, Page } from "../../api/types";
import { go, hrefs } from "../../app/router";
import { may } from "../../app/session";
import { t as common } from "../../i18n/common";
import { Button, Dialog, Failure } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { t } from "./words";

export function paramsOf(job: Job): [name: string, param: JobParam][] {
    return Object.entries(job.params ?? {});
}

function choicesOf(param: JobParam): string[] | null {
    if (param.allowed) return param.allowed.map(String);
    return param.type === "boolean" ? ["true", "false"] : null;
}

function initialOf(param: JobParam): string {
    if (param.default !== undefined) return String(param.default);
    return choicesOf(param)?.[0] ?? "";
}

function ParamField(props: { name: string; param: JobParam; value: string; onInput: (value: string) => void }) {
    const { name, param, value, onInput } = props;
    const choices = choicesOf(param);
    const help = param.help ? `run-${name}-help` : undefined;
    return (
        <label>
            <span class="mono">{name}</span>
            {choices ? (
                <select value={value} aria-describedby={help} onChange={(event) => onInput(event.currentTarget.value)}>
                    {choices.map((choice) => (
                        <option key={choice} value={choice}>
                            {choice}
                        </option>
                    ))}
                </select>
            ) : (
                <input
                    value={value}
                    required={param.default === undefined && param.type !== undefined}
                    inputMode={param.type === "integer" || param.type === "number" ? "decimal" : undefined}
                    maxLength={8192}
                    autocomplete="off"
                    spellcheck={false}
                    aria-describedby={help}
                    onInput={(event) => onInput(event.currentTarget.value)}
                />
            )}
            {help && (
                <span id={help} class="faint small">
                    {param.help}
                </span>
            )}
        </label>
    );
}

interface Once {
    node: string; // empty: any
    timeout: string;
    env: string; // NAME=value, one a line
}

function envOf(text: string): Record<string, string> {
    const lines = text.split("\n").filter((line) => line.trim());
    return Object.fromEntries(
        lines.map((line) => {
            const mark = line.indexOf("=");
            return mark < 0 ? [line.trim(), ""] : [line.slice(0, mark).trim(), line.slice(mark + 1)];
        }),
    );
}

// What the request says beside the parameters.
export function onceOf(once: Once): Record<string, unknown> {
    return {
        ...(once.node ? { node: once.node } : {}),
        ...(once.timeout.trim() ? { timeout: once.timeout.trim() } : {}),
        ...(once.env.trim() ? { env: envOf(once.env) } : {}),
    };
}

function OnceFields({ job, once, onChange }: { job: Job; once: Once; onChange: (once: Once) => void }) {
    const nodes = useResource("nodes", (signal) => api.optional<Page<{ node: string }>>("/nodes", {}, signal));
    return (
        <details>
            <summary>{t("once")}</summary>
            <label>
                {t("once.node")}
                <select value={once.node} onChange={(event) => onChange({ ...once, node: event.currentTarget.value })}>
                    <option value="">{t("once.any")}</option>
                    {nodes.data?.items.map(({ node }) => (
                        <option key={node} value={node}>
                            {node}
                        </option>
                    ))}
                </select>
            </label>
            {may("define", job.name) && (
                <>
                    <label>
                        {t("once.timeout")}
                        <input
                            value={once.timeout}
                            placeholder={String(job["timeout"] ?? "5m")}
                            autocomplete="off"
                            onInput={(event) => onChange({ ...once, timeout: event.currentTarget.value })}
                        />
                    </label>
                    <label>
                        {t("once.env")}
                        <textarea
                            class="mono"
                            rows={2}
                            value={once.env}
                            placeholder="NAME=value"
                            spellcheck={false}
                            onInput={(event) => onChange({ ...once, env: event.currentTarget.value })}
                        />
                    </label>
                </>
            )}
        </details>
    );
}

// The bytes of a file in base64, as the API takes them.
async function inputOf(file: File): Promise<Record<string, string>> {
    const bytes = new Uint8Array(await file.arrayBuffer());
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return { data: btoa(text), ...(file.type ? { type: file.type } : {}) };
}

export function RunDialog({ job, onClose }: { job: Job; onClose: () => void }) {
    const params = paramsOf(job);
    const [values, setValues] = useState(() => Object.fromEntries(params.map(([name, param]) => [name, initialOf(param)])));
    const [once, setOnce] = useState<Once>({ node: "", timeout: "", env: "" });
    const [file, setFile] = useState<File | null>(null);
    const [problem, setProblem] = useState<Problem | null>(null);
    const [busy, setBusy] = useState(false);
    const submit = async (event: Event): Promise<void> => {
        event.preventDefault();
        setBusy(true);
        try {
            const started = await api.post<{ run_id: string }>(jobPath(job.name, "/run"), {
                ...(params.length ? { params: values } : {}),
                ...onceOf(once),
                ...(file ? { input: await inputOf(file) } : {}),
            });
            go(hrefs.run(started.run_id));
        } catch (error) {
            setProblem(error instanceof Problem ? error : new Problem(0, String(error)));
            setBusy(false);
        }
    };
    return (
        <Dialog title={t("run.with", { name: job.name })} onClose={onClose}>
            <form class="dialog-form" onSubmit={(event) => void submit(event)}>
                {params.map(([name, param]) => (
                    <ParamField
                        key={name}
                        name={name}
                        param={param}
                        value={values[name] ?? ""}
                        onInput={(value) => setValues({ ...values, [name]: value })}
                    />
                ))}
                {!job["http"] && (
                    <label>
                        {t("run.input")}
                        <input type="file" onChange={(event) => setFile(event.currentTarget.files?.[0] ?? null)} />
                    </label>
                )}
                <OnceFields job={job} once={once} onChange={setOnce} />
                {problem && <Failure problem={problem} />}
                <div class="dialog-actions">
                    <Button onClick={onClose}>{common("cancel")}</Button>
                    <button class="button primary" disabled={busy}>
                        {t("run")}
                    </button>
                </div>
            </form>
        </Dialog>
    );
}
