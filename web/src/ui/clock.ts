// The current time, updated every second, for countdowns. By this machine's clock, since the server's
// is not known.
import { signal } from "@preact/signals";

export const now = signal(Date.now());

setInterval(() => {
    if (!document.hidden) now.value = Date.now();
}, 1000);
document.addEventListener("visibilitychange", () => (now.value = Date.now()));
