// Round moments on a time axis. Pure.
import { partsOf } from "./time";

// How far the zone is from UTC at that moment.
function offsetOf(ms: number, zone: string): number {
    const parts = partsOf(ms, zone);
    return Date.parse(`${parts.date}T${parts.time}Z`) - Math.floor(ms / 1000) * 1000;
}

// Round moments of the zone's own clock, also across a change of it.
export function axisTicks(from: number, to: number, step: number, zone: string): number[] {
    const found: number[] = [];
    const first = Math.ceil((from + offsetOf(from, zone)) / step) * step;
    for (let local = first; ; local += step) {
        const guess = local - offsetOf(from, zone);
        const at = local - offsetOf(guess, zone);
        if (at >= to) return found;
        if (at >= from) found.push(at);
    }
}

const steps = [60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86_400, 7 * 86_400, 30 * 86_400].map((s) => s * 1000);

// Some of them, not more than `most`.
export function someTicks(from: number, to: number, most: number, zone: string): number[] {
    const step = steps.find((ms) => (to - from) / ms <= most) ?? Math.ceil((to - from) / most / 86_400_000) * 86_400_000;
    return axisTicks(from, to, step, zone);
}

// A round number above `value`, and two steps on the way.
export function roundUp(value: number): number {
    const base = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
    return [1, 2, 3, 5, 10].map((n) => n * base).find((n) => n >= value) ?? value;
}
