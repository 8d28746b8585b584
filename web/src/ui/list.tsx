// A list in pages. A reload reads all pages, so that the rows are of one moment.
import { useEffect, useRef, useState } from "preact/hooks";
import { collect } from "../api/client";
import type { Absence, Page } from "../api/types";
import { t } from "../i18n/common";
import { Button } from "./parts";
import { useResource, type Resource } from "./resource";

const FIRST = 50;
const STEP = 100;
const PAGE_MAX = 1000;
const UNASKED = 300; // rows that scrolling loads; beyond that a search is faster

export interface List<T> extends Omit<Resource<Page<T>>, "data"> {
    items: T[] | null;
    incomplete: Absence[] | undefined;
    hasMore: boolean;
    more: () => void;
}

export function useList<T>(
    key: string,
    fetchPage: (cursor: string | null, limit: number, signal: AbortSignal) => Promise<Page<T>>,
): List<T> {
    const [wanted, setWanted] = useState({ key, count: FIRST });
    const count = wanted.key === key ? wanted.count : FIRST;
    const resource = useResource(`${key} ${count}`, (signal) =>
        collect((cursor) => fetchPage(cursor, Math.min(count, PAGE_MAX), signal), count),
    );
    return {
        ...resource,
        items: resource.data?.items ?? null,
        incomplete: resource.data?.incomplete,
        hasMore: !!resource.data?.next,
        more: () => setWanted({ key, count: count + STEP }),
    };
}

// At the end of a list: asks for more as soon as it is seen, until there are many.
export function ListEnd<T>({ list }: { list: List<T> }) {
    const end = useRef<HTMLDivElement>(null);
    const { hasMore, loading } = list;
    const isLong = (list.items?.length ?? 0) >= UNASKED;
    const latest = useRef(list.more);
    latest.current = list.more;
    useEffect(() => {
        if (!hasMore || loading || isLong || !end.current) return undefined;
        const seen = new IntersectionObserver((entries) => {
            if (entries.some((entry) => entry.isIntersecting)) latest.current();
        });
        seen.observe(end.current);
        return () => seen.disconnect();
    }, [hasMore, loading, isLong]);
    if (!hasMore) return null;
    return (
        <div class="table-foot" ref={end}>
            <Button small onClick={list.more} disabled={loading}>
                {loading ? t("loading") : t("load.more")}
            </Button>
        </div>
    );
}
