// Notes as Markdown: headings, lists, code, emphasis and links. It makes elements, never HTML, and only
// links of the web and of mail, so that who writes notes can't harm who reads them.
import type { ComponentChildren } from "preact";

export type Block =
    | { kind: "text"; text: string }
    | { kind: "head"; text: string }
    | { kind: "code"; text: string }
    | { kind: "list"; items: string[]; ordered: boolean };

const ITEM = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;

export function blocksOf(source: string): Block[] {
    const blocks: Block[] = [];
    const lines = source.replace(/\r\n?/g, "\n").split("\n");
    for (let i = 0; i < lines.length; i++) {
        const line = lines[i] ?? "";
        const last = blocks[blocks.length - 1];
        const isNext = i > 0 && lines[i - 1] !== "";
        const item = ITEM.exec(line);
        if (line.startsWith("```")) {
            const end = lines.findIndex((other, j) => j > i && other.startsWith("```"));
            const to = end < 0 ? lines.length : end;
            blocks.push({ kind: "code", text: lines.slice(i + 1, to).join("\n") });
            i = to;
        } else if (/^#{1,6}\s/.test(line)) {
            blocks.push({ kind: "head", text: line.replace(/^#+\s+/, "") });
        } else if (item) {
            const ordered = item[1] !== undefined;
            if (last?.kind === "list" && isNext && last.ordered === ordered) last.items.push(item[2] ?? "");
            else blocks.push({ kind: "list", items: [item[2] ?? ""], ordered });
        } else if (line.trim()) {
            if (last?.kind === "text" && isNext) last.text += `\n${line}`;
            else if (last?.kind === "list" && isNext && /^\s/.test(line)) last.items.push(`${last.items.pop()} ${line.trim()}`);
            else blocks.push({ kind: "text", text: line });
        }
    }
    return blocks;
}

const ADDRESS = /^(?:https?:\/\/|mailto:)/i;
// Code, a named link, a bare address, strong, emphasis.
const SPAN = /`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)|(https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]])|\*\*(.+?)\*\*|\*([^\s*](?:[^*]*[^\s*])?)\*/g;

function link(address: string, text: ComponentChildren): ComponentChildren {
    if (!ADDRESS.test(address)) return text;
    return (
        <a href={address} target="_blank" rel="noreferrer noopener">
            {text}
        </a>
    );
}

function spansOf(text: string): ComponentChildren[] {
    const parts: ComponentChildren[] = [];
    let at = 0;
    for (const match of text.matchAll(SPAN)) {
        const [whole, code, name, address, bare, strong, slanted] = match;
        parts.push(text.slice(at, match.index));
        if (code !== undefined) parts.push(<code>{code}</code>);
        else if (name !== undefined) parts.push(link(address ?? "", spansOf(name)));
        else if (bare !== undefined) parts.push(link(bare, bare));
        else if (strong !== undefined) parts.push(<strong>{spansOf(strong)}</strong>);
        else parts.push(<em>{spansOf(slanted ?? "")}</em>);
        at = match.index + whole.length;
    }
    return [...parts, text.slice(at)];
}

function BlockView({ block }: { block: Block }) {
    switch (block.kind) {
        case "head":
            return <h3>{spansOf(block.text)}</h3>;
        case "code":
            return <pre tabIndex={0}>{block.text}</pre>;
        case "list": {
            const items = block.items.map((item, i) => <li key={i}>{spansOf(item)}</li>);
            return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
        }
        default:
            return <p>{spansOf(block.text)}</p>;
    }
}

export function Markdown({ source }: { source: string }) {
    return (
        <div class="markdown">
            {blocksOf(source).map((block, i) => (
                <BlockView key={i} block={block} />
            ))}
        </div>
    );
}
