// How fast store and history answer: the store as this node's agent measures it, the history as a read from here.
import { api, send } from "../../api/client";
import { useResource } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { boundOf, histogramOf } from "./samples";
import { t } from "./words";

export function useLatencies(turn: number): { store: string | null; history: string | null } {
    const found = useResource(`latencies ${turn}`, async (signal) => {
        const text = await send("GET", "/metrics?jobs=false", { signal, base: "" })
            .then((answer) => answer.text())
            .catch(() => "");
        const store = histogramOf(text, "peal_store_request_seconds");
        const from = performance.now();
        await api.get("/runs", { limit: 1, state: "ok" }, signal);
        return { store, history: performance.now() - from };
    });
    if (!found.data) return { store: null, history: null };
    const { store, history } = found.data;
    const [p50, p99] = [boundOf(store, 0.5), boundOf(store, 0.99)];
    const text = (s: number): string => spanText(s * 1000);
    return {
        store: p50 === null ? null : t("latency.store", { p50: text(p50), p99: p99 === null ? "> 10 s" : text(p99), n: store.count }),
        history: t("latency.history", { span: spanText(history) }),
    };
}
