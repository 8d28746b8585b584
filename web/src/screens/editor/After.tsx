// The upstream jobs of a job, instead of a schedule.
import { api } from "../../api/client";
import type { Job, Page } from "../../api/types";
import { Button } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { aftersOf, withAfters } from "./draft";
import { Mistakes, mistakesAt, type FormProps } from "./Field";
import { helpOf } from "./fields";
import { t } from "./words";

const KNOWN = 1000; // names that are offered

export function After({ form, disabled }: { form: FormProps; disabled: boolean }) {
    const { draft, mistakes, onChange } = form;
    const items = aftersOf(draft);
    const set = (next: typeof items): void => onChange(withAfters(draft, next));
    const known = useResource("names of jobs", (signal) => api.get<Page<Job>>("/jobs", { fields: "name", limit: KNOWN }, signal));
    return (
        <>
            {items.map((item, i) => {
                const id = `f-after-${i}`;
                const wrong = mistakesAt(mistakes, items.length > 1 ? `/after/${i}` : "/after");
                return (
                    <div key={i} class={`field wide ${wrong.length ? "is-wrong" : ""}`}>
                        <label for={id}>{t("after.n", { n: i + 1 })}</label>
                        <div class="with-button">
                            <input
                                id={id}
                                list="job-names"
                                value={item.job}
                                disabled={disabled}
                                autocomplete="off"
                                spellcheck={false}
                                aria-invalid={wrong.length > 0}
                                aria-describedby={`${id}-wrong f-after-help`}
                                onInput={(event) => set(items.with(i, { ...item, job: event.currentTarget.value }))}
                            />
                            <select
                                aria-label={t("after.on", { n: i + 1 })}
                                value={item.on}
                                disabled={disabled}
                                onChange={(event) => set(items.with(i, { ...item, on: event.currentTarget.value }))}
                            >
                                {(["success", "failure", "always"] as const).map((on) => (
                                    <option key={on} value={on}>
                                        {t(`after.${on}`)}
                                    </option>
                                ))}
                            </select>
                            {items.length > 1 && (
                                <Button icon="cross" title={t("after.remove", { n: i + 1 })} onClick={() => set(items.toSpliced(i, 1))} />
                            )}
                        </div>
                        <Mistakes id={`${id}-wrong`} items={wrong} />
                    </div>
                );
            })}
            <div class="field wide">
                <p class="field-help" id="f-after-help">
                    {helpOf("after")}
                </p>
                {!disabled && (
                    <div>
                        <Button icon="plus" small onClick={() => set([...items, { job: "", on: "success" }])}>
                            {t("after.add")}
                        </Button>
                    </div>
                )}
            </div>
            <datalist id="job-names">
                {known.data?.items.map((job) => (
                    <option key={job.name} value={job.name} />
                ))}
            </datalist>
        </>
    );
}
