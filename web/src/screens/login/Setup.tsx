import { useState } from "preact/hooks";
import { Problem } from "../../api/client";
import { replace } from "../../app/router";
import type { ScreenProps } from "../../app/screens";
import { login } from "../../app/session";
import { Failure } from "../../ui/parts";
import { Frame } from "./Frame";
import { t } from "./words";

export default function Setup({ params }: ScreenProps) {
    const [name, setName] = useState("");
    const [password, setPassword] = useState("");
    const [again, setAgain] = useState("");
    const [busy, setBusy] = useState(false);
    const [problem, setProblem] = useState<Problem | null>(null);
    const differs = again !== "" && again !== password;

    const submit = (event: Event): void => {
        event.preventDefault();
        if (differs) return;
        setBusy(true);
        login("/setup", { secret: params["secret"], name, password })
            .then(() => replace("#/"))
            .catch((error: unknown) => setProblem(error instanceof Problem ? error : new Problem(0, String(error))))
            .finally(() => setBusy(false));
    };
    return (
        <Frame title={t("setup")} lead={t("setup.lead")}>
            <form class="gate-form" onSubmit={submit}>
                {problem && <Failure problem={problem} />}
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
                <div>
                    <label>
                        {t("password")}
                        <input
                            name="password"
                            type="password"
                            autocomplete="new-password"
                            required
                            minLength={8}
                            aria-describedby="password-rule"
                            value={password}
                            onInput={(event) => setPassword(event.currentTarget.value)}
                        />
                    </label>
                    <small id="password-rule" class="faint">
                        {t("password.rule")}
                    </small>
                </div>
                <div>
                    <label>
                        {t("password.again")}
                        <input
                            name="again"
                            type="password"
                            autocomplete="new-password"
                            required
                            aria-invalid={differs}
                            aria-describedby="password-differs"
                            value={again}
                            onInput={(event) => setAgain(event.currentTarget.value)}
                        />
                    </label>
                    <small id="password-differs" class="tone-bad" role="status">
                        {differs && t("password.differs")}
                    </small>
                </div>
                <button class="button primary" disabled={busy || differs}>
                    {t("setup.do")}
                </button>
            </form>
        </Frame>
    );
}
