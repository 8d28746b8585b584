import { useEffect, useState } from "preact/hooks";
import { api, Problem } from "../../api/client";
import { path, replace } from "../../app/router";
import type { ScreenProps } from "../../app/screens";
import { login } from "../../app/session";
import { Failure } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { Frame } from "./Frame";
import { t } from "./words";

interface Auth {
    accounts: boolean | number;
    setup: boolean;
}

// To the requested address, which is still there unless it is that of the login itself.
function enter(): void {
    if (path.value.startsWith("/login") || path.value.startsWith("/setup")) replace("#/"); // no step back to a link that is used up
}

export default function Login({ params }: ScreenProps) {
    const [name, setName] = useState("");
    const [password, setPassword] = useState("");
    const [busy, setBusy] = useState(false);
    const [problem, setProblem] = useState<Problem | null>(null);
    const auth = useResource("auth", (signal) => api.optional<Auth>("/auth", {}, signal));
    const link = params["link"];

    const enterBy = (body: unknown): void => {
        setBusy(true);
        setProblem(null);
        login("/login", body)
            .then(enter)
            .catch((error: unknown) => setProblem(error instanceof Problem ? error : new Problem(0, String(error))))
            .finally(() => setBusy(false));
    };
    useEffect(() => {
        if (link) enterBy({ link });
    }, [link]);

    if (link && !problem) return <Frame title={t("login")} lead={t("login.link")} children={null} />;
    return (
        <Frame title={t("login")} lead={t("login.lead")}>
            <form
                class="gate-form"
                onSubmit={(event) => {
                    event.preventDefault();
                    enterBy({ name, password });
                }}
            >
                {problem && <Failure problem={problem} />}
                {auth.data?.setup && (
                    <p class="note">
                        {t("setup.needed")} <code>peal user add NAME</code>
                    </p>
                )}
                {!auth.loading && !auth.problem && auth.data === null && <p class="note">{t("no.accounts")}</p>}
                <label>
                    {t("name")}
                    <input
                        name="username"
                        autocomplete="username"
                        autofocus
                        required
                        value={name}
                        onInput={(event) => setName(event.currentTarget.value)}
                    />
                </label>
                <label>
                    {t("password")}
                    <input
                        name="password"
                        type="password"
                        autocomplete="current-password"
                        required
                        value={password}
                        onInput={(event) => setPassword(event.currentTarget.value)}
                    />
                </label>
                <button class="button primary" disabled={busy}>
                    {busy ? t("login.busy") : t("login")}
                </button>
            </form>
        </Frame>
    );
}
