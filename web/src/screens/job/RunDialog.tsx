// A run with parameters: one field for each that the job declares.
import { useState } from "preact/hooks";
import { api, jobPath, Problem } from "../../api/client";
import type { Job, JobParam } from "../../api/types";
import { go, hrefs } from "../../app/router";
import { t as common } from "../../i18n/common";
import { Button, Dialog, Failure } from "../../ui/parts";
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

export function RunDialog({ job, onClose }: { job: Job; onClose: () => void }) {
    const params = paramsOf(job);
    const [values, setValues] = useState(() => Object.fromEntries(params.map(([name, param]) => [name, initialOf(param)])));
    const [problem, setProblem] = useState<Problem | null>(null);
    const [busy, setBusy] = useState(false);
    const submit = async (event: Event): Promise<void> => {
        event.preventDefault();
        setBusy(true);
        try {
            const started = await api.post<{ run_id: string }>(jobPath(job.name, "/run"), { params: values });
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
