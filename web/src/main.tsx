import { effect } from "@preact/signals";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { loginNeeded, Problem } from "./api/client";
import { startLive } from "./api/live";
import { listenToKeys } from "./app/keyboard";
import { path, replace } from "./app/router";
import { findScreen, navigation } from "./app/screens";
import { loadSession, me } from "./app/session";
import { Shell, View } from "./app/shell";
import { Toasts } from "./app/toasts";
import { Failure } from "./ui/parts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/shell.css";

// Without a session the login comes first, and then the requested address.
function App() {
    const [problem, setProblem] = useState<Problem | null>(null);
    const isReady = me.value !== null && !loginNeeded.value;
    const isPublic = findScreen(path.value)?.screen.isPublic ?? false;
    const start = (): void => {
        setProblem(null);
        loadSession().catch((error: unknown) =>
            setProblem(error instanceof Problem ? error : new Problem(0, String(error))),
        );
    };
    useEffect(() => {
        if (!isPublic) start();
    }, [isPublic]);
    useEffect(() => (isReady ? startLive() : undefined), [isReady]);
    if (isPublic || loginNeeded.value)
        return (
            <>
                <View at={isPublic ? path.value : "/login"} />
                <Toasts />
            </>
        );
    if (!isReady && problem)
        return (
            <main class="main alone">
                <Failure problem={problem} onRetry={start} />
            </main>
        );
    return isReady ? <Shell /> : null;
}

effect(() => {
    if (path.value === "/") replace(`#${navigation[0]?.path ?? "/jobs"}`);
});
listenToKeys();
render(<App />, document.getElementById("app") as HTMLElement);
