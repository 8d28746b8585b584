// The tables of words() as one text each, which compress to two thirds of what objects do: the keys once,
// and the texts of both languages in the order of the keys.
import type { Plugin } from "vite";

const END = "|"; // of each text; a text with it fails the build

interface Node {
    type: string;
    start: number;
    end: number;
    callee?: { name?: string };
    arguments?: Node[];
    properties?: { key: { value?: string; name?: string }; value: { value?: string } }[];
    [key: string]: unknown;
}

// All calls of words(), at any depth.
function callsIn(node: unknown, found: Node[] = []): Node[] {
    if (Array.isArray(node)) node.forEach((one) => callsIn(one, found));
    else if (node && typeof node === "object") {
        const one = node as Node;
        if (one.type === "CallExpression" && one.callee?.name === "words") found.push(one);
        Object.values(one).forEach((value) => callsIn(value, found));
    }
    return found;
}

function tableOf(node: Node): Map<string, string> {
    return new Map(
        node.properties!.map(({ key, value }) => {
            const name = key.value ?? key.name;
            if (!name || typeof value.value !== "string" || (name + value.value).includes(END)) throw new Error(`words(): "${name}" must be a plain text without "${END}"`);
            return [name, value.value];
        }),
    );
}

export function packWords(): Plugin {
    return {
        name: "pack-words",
        apply: "build",
        transform(code, id) {
            if (!/words\.ts$|titles\.ts$|common\.ts$/.test(id) || id.endsWith("i18n/words.ts")) return null;
            let out = code;
            for (const call of callsIn(this.parse(code)).reverse()) {
                const [en, zh] = call.arguments!.map(tableOf) as [Map<string, string>, Map<string, string>];
                const keys = [...en.keys()];
                const texts = [keys, [...en.values()], keys.map((key) => zh.get(key) ?? "")].map((all) => JSON.stringify(all.join(END)));
                out = `${out.slice(0, call.start)}packed(${texts.join(",")})${out.slice(call.end)}`;
            }
            return { code: out.replace(/import \{ words \}/, "import { packed }"), map: null };
        },
    };
}
