// The present, a second at a time, for countdowns; the server's clock, as its answers tell it, is not
// known, so it is this machine's.
import { signal } from "@preact/signals";

export const now = signal(Date.now());

setInterval(() => {
    if (!document.hidden) now.value = Date.now();
}, 1000);
document.addEventListener("visibilitychange", () => (now.value = Date.now()));
