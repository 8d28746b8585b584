// A GIF of screenshots: one palette for all, and of each frame only what has changed.
const COLOURS = 255;
const SAME = 255; // the pixel of the frame before shows through

// The colours that most pixels have; those that differ little count as one.
function paletteOf(frames) {
    const groups = new Map();
    for (const { pixels } of frames) {
        const counts = new Map();
        for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
        for (const [pixel, count] of counts) {
            const key = pixel & 0xfcfcfc;
            const group = groups.get(key) ?? { count: 0, pixel, most: 0 };
            group.count += count;
            if (count > group.most) [group.pixel, group.most] = [pixel, count];
            groups.set(key, group);
        }
    }
    return [...groups.values()].sort((a, b) => b.count - a.count).slice(0, COLOURS).map((group) => group.pixel);
}

function nearestIn(palette) {
    const known = new Map();
    return (pixel) => {
        let found = known.get(pixel);
        if (found !== undefined) return found;
        let best = Infinity;
        palette.forEach((colour, i) => {
            const [r, g, b] = [16, 8, 0].map((shift) => ((colour >> shift) & 255) - ((pixel >> shift) & 255));
            const far = 2 * r * r + 4 * g * g + 3 * b * b;
            if (far < best) [best, found] = [far, i];
        });
        known.set(pixel, found);
        return found;
    };
}

// What has changed since the frame before: a box, or null.
function boxOf(now, before, width, height) {
    if (!before) return { x: 0, y: 0, width, height };
    let [left, top, right, bottom] = [width, height, -1, -1];
    for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) {
            if (now[y * width + x] === before[y * width + x]) continue;
            [left, right] = [Math.min(left, x), Math.max(right, x)];
            [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
        }
    }
    return right < 0 ? null : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

// LZW with codes of 9 to 12 bits, in blocks of 255 bytes.
function compress(indexes) {
    const bytes = [];
    const [CLEAR, END] = [256, 257];
    let [buffer, bits, size] = [0, 0, 9];
    let codes = new Map();
    let next = END + 1;
    const put = (code) => {
        buffer |= code << bits;
        for (bits += size; bits >= 8; bits -= 8, buffer >>>= 8) bytes.push(buffer & 255);
    };
    put(CLEAR);
    let prefix = indexes[0];
    for (let i = 1; i < indexes.length; i++) {
        const key = (prefix << 8) | indexes[i];
        const code = codes.get(key);
        if (code !== undefined) {
            prefix = code;
            continue;
        }
        put(prefix);
        codes.set(key, next);
        if (next === 1 << size && size < 12) size++;
        if (next++ === 4095) {
            put(CLEAR);
            [codes, next, size] = [new Map(), END + 1, 9];
        }
        prefix = indexes[i];
    }
    put(prefix);
    put(END);
    if (bits) bytes.push(buffer & 255);
    const blocks = [8];
    for (let at = 0; at < bytes.length; at += 255) {
        const block = bytes.slice(at, at + 255);
        blocks.push(block.length, ...block);
    }
    return Buffer.from([...blocks, 0]);
}

const u16 = (n) => [n & 255, n >> 8];

function frameBytes(indexes, before, { x, y, width, height }, stride, delayMs) {
    const part = new Uint8Array(width * height);
    for (let row = 0; row < height; row++) {
        for (let column = 0; column < width; column++) {
            const at = (y + row) * stride + x + column;
            part[row * width + column] = before && before[at] === indexes[at] ? SAME : indexes[at];
        }
    }
    const control = [0x21, 0xf9, 4, 0x05, ...u16(Math.round(delayMs / 10)), SAME, 0];
    const image = [0x2c, ...u16(x), ...u16(y), ...u16(width), ...u16(height), 0];
    return Buffer.concat([Buffer.from([...control, ...image]), compress(part)]);
}

// `frames`: {width, height, pixels, delayMs}, all of one size. It repeats.
export function encodeGif(frames) {
    const [{ width, height }] = frames;
    const palette = paletteOf(frames);
    const nearest = nearestIn(palette);
    const merged = [];
    let before = null;
    for (const frame of frames) {
        const indexes = Uint8Array.from(frame.pixels, nearest);
        const box = boxOf(indexes, before, width, height);
        if (box) merged.push({ indexes, before, box, delayMs: frame.delayMs });
        else merged.at(-1).delayMs += frame.delayMs;
        before = indexes;
    }
    const colours = Array.from({ length: 256 }, (_, i) => palette[i] ?? 0).flatMap((pixel) => [pixel >> 16, (pixel >> 8) & 255, pixel & 255]);
    return Buffer.concat([
        Buffer.from("GIF89a"),
        Buffer.from([...u16(width), ...u16(height), 0xf7, 0, 0, ...colours]),
        Buffer.from([0x21, 0xff, 11, ...Buffer.from("NETSCAPE2.0"), 3, 1, 0, 0, 0]),
        ...merged.map((frame) => frameBytes(frame.indexes, frame.before, frame.box, width, frame.delayMs)),
        Buffer.from([0x3b]),
    ]);
}
