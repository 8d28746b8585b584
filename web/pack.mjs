// node pack.mjs DIST OUTPUT.c
// Packs the built console into C: each file compressed, with its type and its tag. Fails if all of
// them together are larger than the console may be. zopfli takes a moment once, and wins what every
// browser would have to load: a twentieth.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";

const BYTES_MAX = Number(process.env.PEAL_CONSOLE_MAX ?? 150 * 1024);
const FIRST_MAX = Number(process.env.PEAL_CONSOLE_FIRST_MAX ?? 80 * 1024); // what the first screen loads

const types = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
};

// The page itself and the folder assets/, whose names hold a hash of what is in them.
function list(dist) {
    const assets = readdirSync(join(dist, "assets")).sort();
    return [
        { path: "/", file: join(dist, "index.html"), hashed: false },
        ...assets.map((name) => ({ path: `/assets/${name}`, file: join(dist, "assets", name), hashed: true })),
    ];
}

function pack({ path, file, hashed }) {
    const type = types[extname(file)];
    if (!type) throw new Error(`${file}: pack.mjs does not know this type of file`);
    const bytes = readFileSync(file);
    const tag = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
    return { path, type, tag, hashed, length: bytes.length, gzip: execFileSync("zopfli", ["-c", "--i5", file]) };
}

function array(bytes) {
    const lines = [];
    for (let i = 0; i < bytes.length; i += 24) lines.push(Array.from(bytes.subarray(i, i + 24)).join(","));
    return lines.join(",\n");
}

function print(files) {
    const data = files.map((file, i) => `static const unsigned char file_${i}[] = {\n${array(file.gzip)}};\n`);
    const rows = files.map(
        (file, i) =>
            `    {"${file.path}", "${file.type}", "\\"${file.tag}\\"", file_${i}, sizeof(file_${i}), ` +
            `${file.length}, ${file.hashed}},\n`,
    );
    return [
        '#include "site/console.h"\n\n',
        ...data,
        "\nconst struct console_file console_files[] = {\n",
        ...rows,
        "};\n",
        `const size_t console_file_count = ${files.length};\n`,
    ].join("");
}

const [dist, output] = process.argv.slice(2);
const files = list(dist).map(pack);
const total = files.reduce((sum, file) => sum + file.gzip.length, 0);
const isFirst = ({ path }) => path === "/" || /^\/assets\/(index|lists|style)-/.test(path);
const first = files.filter(isFirst).reduce((sum, file) => sum + file.gzip.length, 0);
const tooLarge = [
    ["the console", total, BYTES_MAX],
    ["its first screen", first, FIRST_MAX],
].filter(([, has, may]) => has > may);
if (tooLarge.length) {
    for (const file of files) console.error(`${String(file.gzip.length).padStart(8)}  ${file.path}`);
    for (const [what, has, may] of tooLarge) console.error(`${what} has ${has} bytes compressed; it may have ${may}. Leave something out.`);
    process.exit(1);
}
writeFileSync(output, print(files));
console.log(`console: ${files.length} files, ${(total / 1024).toFixed(1)} KiB compressed, ${(first / 1024).toFixed(1)} for the first screen`);
