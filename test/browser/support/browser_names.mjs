// Some modules look at the browser when they are loaded; in node there is none.
if (typeof window === "undefined") {
    const store = new Map();
    const target = new EventTarget();
    globalThis.localStorage = { getItem: (key) => store.get(key) ?? null, setItem: (key, value) => store.set(key, value) };
    globalThis.document = Object.assign(new EventTarget(), { documentElement: { dataset: {}, lang: "" }, hidden: false });
    globalThis.window = Object.assign(target, {
        location: { hash: "" },
        history: { replaceState: () => undefined },
        matchMedia: () => Object.assign(new EventTarget(), { matches: false }),
    });
    Object.defineProperty(globalThis, "navigator", { value: { languages: ["en"], onLine: true }, configurable: true });
}
