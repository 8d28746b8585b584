// The pixels of a screenshot: a PNG of 8 bits for each colour, without interlacing.
import { inflateSync } from "node:zlib";

function paeth(a, b, c) {
    const p = a + b - c;
    const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// Each line of pixels begins with the way in which it differs from those beside it.
function unfilter(bytes, height, stride, size) {
    const out = Buffer.alloc(height * stride);
    for (let y = 0; y < height; y++) {
        const filter = bytes[y * (stride + 1)];
        for (let x = 0; x < stride; x++) {
            const at = y * stride + x;
            const left = x >= size ? out[at - size] : 0;
            const up = y ? out[at - stride] : 0;
            const corner = x >= size && y ? out[at - stride - size] : 0;
            const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
            out[at] = bytes[y * (stride + 1) + 1 + x] + guess;
        }
    }
    return out;
}

// {width, height, pixels}: one number, 0xRRGGBB, a pixel.
export function decodePng(png) {
    const parts = [];
    let head;
    for (let at = 8; at < png.length; ) {
        const length = png.readUInt32BE(at);
        const data = png.subarray(at + 8, at + 8 + length);
        const type = png.toString("latin1", at + 4, at + 8);
        if (type === "IHDR") head = { width: data.readUInt32BE(0), height: data.readUInt32BE(4), size: { 2: 3, 6: 4 }[data[9]], bits: data[8], interlace: data[12] };
        if (type === "IDAT") parts.push(data);
        at += length + 12;
    }
    const { width, height, size } = head;
    if (!size || head.bits !== 8 || head.interlace) throw new Error("a PNG of another kind");
    const bytes = unfilter(inflateSync(Buffer.concat(parts)), height, width * size, size);
    const pixels = new Uint32Array(width * height);
    for (let i = 0; i < pixels.length; i++) pixels[i] = (bytes[i * size] << 16) | (bytes[i * size + 1] << 8) | bytes[i * size + 2];
    return { width, height, pixels };
}
