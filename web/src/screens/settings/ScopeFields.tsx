// The fields of a role, for users and for tokens.
import { t } from "./words";
import { roles, type Scope } from "./scope";

export interface ScopeText extends Omit<Scope, "namespaces"> {
    grants: string;
}

type ScopeFieldsProps = { value: ScopeText; first: "none" | "own"; onChange: (value: ScopeText) => void };

export function ScopeFields({ value, first, onChange }: ScopeFieldsProps) {
    return (
        <>
            <label>
                {t("role")}
                <select value={value.role} onChange={(event) => onChange({ ...value, role: event.currentTarget.value })}>
                    <option value={first === "own" ? "" : "none"}>{t(`role.${first}`)}</option>
                    {roles.map((role) => (
                        <option key={role} value={role}>
                            {t(`role.${role}`)}
                        </option>
                    ))}
                </select>
            </label>
            {value.role === "editor" && (
                <label class="check">
                    <input type="checkbox" checked={value.define} onChange={(event) => onChange({ ...value, define: event.currentTarget.checked })} />
                    {t("define")}
                </label>
            )}
            <label>
                {t("namespaces")}
                <textarea
                    class="mono"
                    rows={2}
                    spellcheck={false}
                    placeholder={t("namespaces.text")}
                    value={value.grants}
                    onInput={(event) => onChange({ ...value, grants: event.currentTarget.value })}
                />
            </label>
        </>
    );
}

export function ScopeCell({ scope }: { scope: Scope }) {
    return (
        <>
            {scope.role !== "none" && (
                <span>
                    {scope.role} <span class="faint small">{scope.namespaces.length > 0 && t("everywhere")}</span>
                </span>
            )}{" "}
            {scope.namespaces.map((grant) => (
                <span key={grant.namespace} class="label">
                    {grant.namespace}: {grant.role}
                </span>
            ))}
        </>
    );
}
