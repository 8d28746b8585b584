import { describe, expect, test } from "vitest";
import { blocksOf, type Block } from "@console/ui/markdown";

describe("notes", () => {
    test.each<[string, Block[]]>([
        ["", []],
        ["one\ntwo\n\nthree", [{ kind: "text", text: "one\ntwo" }, { kind: "text", text: "three" }]],
        ["# Runbook\nfirst", [{ kind: "head", text: "Runbook" }, { kind: "text", text: "first" }]],
        ["- a\n- b\n  goes on", [{ kind: "list", items: ["a", "b goes on"], ordered: false }]],
        ["1. a\n2. b", [{ kind: "list", items: ["a", "b"], ordered: true }]],
        ["text\n- a", [{ kind: "text", text: "text" }, { kind: "list", items: ["a"], ordered: false }]],
        ["```sh\nrm -r x\n# no head\n```\nafter", [{ kind: "code", text: "rm -r x\n# no head" }, { kind: "text", text: "after" }]],
        ["```\nnever closed", [{ kind: "code", text: "never closed" }]],
        ["<b>bold</b>", [{ kind: "text", text: "<b>bold</b>" }]], // it stays text
        ["#hashtag", [{ kind: "text", text: "#hashtag" }]],
    ])("%j", (source, want) => expect(blocksOf(source)).toEqual(want));
});
