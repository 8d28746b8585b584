// ANSI sequences of terminals: colours and weights are kept, all other control sequences are
// dropped. The state continues from line to line.

export interface Style {
    fg: string | null; // "1" to "15": of the theme; "#rrggbb"
    bg: string | null;
    bold: boolean;
    dim: boolean;
    italic: boolean;
    underline: boolean;
    inverse: boolean;
}

export interface Span {
    text: string;
    style: Style;
}

export const plain: Style = {
    fg: null,
    bg: null,
    bold: false,
    dim: false,
    italic: false,
    underline: false,
    inverse: false,
};

const ESC = "\x1b";

// CSI ... letter, OSC ... BEL or ST, other escapes of two characters, and control characters.
// eslint-disable-next-line no-control-regex
const SEQUENCE = /\x1b\[([0-9;:?<=>!]*)([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[()][A-Za-z0-9]|\x1b.?|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g;

function hex(r: number, g: number, b: number): string {
    return `#${[r, g, b].map((n) => Math.min(255, Math.max(0, n)).toString(16).padStart(2, "0")).join("")}`;
}

// One of xterm's 256 colours.
export function indexed(n: number): string | null {
    if (!(n >= 0 && n <= 255)) return null;
    if (n < 16) return String(n);
    if (n >= 232) {
        const grey = 8 + (n - 232) * 10;
        return hex(grey, grey, grey);
    }
    const steps = [0, 95, 135, 175, 215, 255];
    const at = n - 16;
    return hex(steps[Math.floor(at / 36)] ?? 0, steps[Math.floor(at / 6) % 6] ?? 0, steps[at % 6] ?? 0);
}

// "38;5;n" and "38;2;r;g;b" from codes[at] on; how many codes it took.
function extended(codes: number[], at: number): { colour: string | null; used: number } {
    if (codes[at + 1] === 5) return { colour: indexed(codes[at + 2] ?? -1), used: 2 };
    if (codes[at + 1] === 2)
        return { colour: hex(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0), used: 4 };
    return { colour: null, used: 0 };
}

function applyCode(style: Style, code: number): void {
    if (code === 0) Object.assign(style, plain);
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 7) style.inverse = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code === 27) style.inverse = false;
    else if (code >= 30 && code <= 37) style.fg = String(code - 30);
    else if (code === 39) style.fg = null;
    else if (code >= 40 && code <= 47) style.bg = String(code - 40);
    else if (code === 49) style.bg = null;
    else if (code >= 90 && code <= 97) style.fg = String(code - 90 + 8);
    else if (code >= 100 && code <= 107) style.bg = String(code - 100 + 8);
}

function applySgr(before: Style, text: string): Style {
    const style = { ...before };
    const codes = text.split(/[;:]/).map((part) => (part === "" ? 0 : Number(part)));
    for (let i = 0; i < codes.length; i++) {
        const code = codes[i] ?? 0;
        if (code === 38 || code === 48) {
            const { colour, used } = extended(codes, i);
            if (code === 38) style.fg = colour;
            else style.bg = colour;
            i += used;
        } else {
            applyCode(style, code);
        }
    }
    return style;
}

export function parseAnsi(text: string, before: Style = plain): { spans: Span[]; after: Style } {
    if (!/[\x00-\x08\x0b-\x1f\x7f]/.test(text)) return { spans: text ? [{ text, style: before }] : [], after: before };
    const spans: Span[] = [];
    let style = before;
    let last = 0;
    const push = (part: string): void => {
        if (!part) return;
        const previous = spans[spans.length - 1];
        if (previous?.style === style) previous.text += part;
        else spans.push({ text: part, style });
    };
    for (const match of text.matchAll(SEQUENCE)) {
        push(text.slice(last, match.index));
        last = match.index + match[0].length;
        if (match[0].startsWith(ESC) && match[2] === "m" && !/[?<=>!]/.test(match[1] ?? ""))
            style = applySgr(style, match[1] ?? "");
    }
    push(text.slice(last));
    return { spans, after: style };
}

export function stripAnsi(text: string): string {
    return text.includes(ESC) ? text.replace(SEQUENCE, "") : text;
}

// A program that draws over its line (a progress bar) shows what it drew last.
export function lastDrawn(line: string): string {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    const at = text.lastIndexOf("\r");
    return at < 0 ? text : text.slice(at + 1);
}
