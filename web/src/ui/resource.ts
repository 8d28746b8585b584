// Something that a screen reads from the API, and reads again.
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../api/client";

export interface Resource<T> {
    data: T | null;
    problem: Problem | null;
    loading: boolean;
    reload: () => void;
    set: (change: (data: T) => T) => void;
}

function asProblem(error: unknown): Problem {
    return error instanceof Problem ? error : new Problem(0, error instanceof Error ? error.message : String(error));
}

// Reads whenever `key` changes; the old data stays until the new has arrived.
export function useResource<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Resource<T> {
    const [state, setState] = useState<{ key: string; data: T | null; problem: Problem | null; loading: boolean }>({
        key,
        data: null,
        problem: null,
        loading: true,
    });
    const [turn, setTurn] = useState(0);
    const latest = useRef(read);
    latest.current = read;
    useEffect(() => {
        const stop = new AbortController();
        setState((old) => ({ ...old, loading: true }));
        latest.current(stop.signal).then(
            (data) => {
                if (!stop.signal.aborted) setState({ key, data, problem: null, loading: false });
            },
            (error: unknown) => {
                if (!stop.signal.aborted) setState((old) => ({ ...old, key, problem: asProblem(error), loading: false }));
            },
        );
        return () => stop.abort();
    }, [key, turn]);
    return {
        data: state.data,
        problem: state.problem,
        loading: state.loading || state.key !== key,
        reload: () => setTurn((n) => n + 1),
        set: (change) => setState((old) => (old.data === null ? old : { ...old, data: change(old.data) })),
    };
}

// Calls `action` soon, but not more often than every `ms`, however often it is asked.
export function useThrottled(action: () => void, ms: number): () => void {
    const latest = useRef(action);
    latest.current = action;
    const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
    const last = useRef(0);
    useEffect(() => () => void (timer.current && clearTimeout(timer.current)), []);
    return useRef(() => {
        if (timer.current) return;
        const wait = Math.max(50, last.current + ms - Date.now());
        timer.current = setTimeout(() => {
            timer.current = null;
            last.current = Date.now();
            latest.current();
        }, wait);
    }).current;
}
