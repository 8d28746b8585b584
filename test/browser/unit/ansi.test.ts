import { describe, expect, test } from "vitest";
import { indexed, lastDrawn, parseAnsi, plain, stripAnsi, type Style } from "@console/screens/run/ansi";

const E = "\x1b[";
const styled = (style: Partial<Style>): Style => ({ ...plain, ...style });

describe("ansi", () => {
    test.each<[string, string, [string, Partial<Style>][]]>([
        ["plain text", "hello", [["hello", {}]]],
        ["nothing", "", []],
        ["a colour and back", `a${E}31mred${E}0mb`, [["a", {}], ["red", { fg: "1" }], ["b", {}]]],
        ["m without a number is 0", `${E}1mx${E}my`, [["x", { bold: true }], ["y", {}]]],
        ["several at once", `${E}1;4;32mx`, [["x", { bold: true, underline: true, fg: "2" }]]],
        ["bright", `${E}91mx${E}104my`, [["x", { fg: "9" }], ["y", { fg: "9", bg: "12" }]]],
        ["256 colours", `${E}38;5;208mx`, [["x", { fg: "#ff8700" }]]],
        ["true colour, then bold", `${E}48;2;1;2;3;1mx`, [["x", { bg: "#010203", bold: true }]]],
        ["with colons", `${E}38:5:9mx`, [["x", { fg: "9" }]]],
        ["default colour", `${E}31m${E}39mx`, [["x", {}]]],
        ["not bold, not dim", `${E}1m${E}2m${E}22mx`, [["x", {}]]],
        ["cursor movements are left out", `a${E}2Kb${E}10;3Hc${E}?25ld`, [["abcd", {}]]],
        ["a title and a link are left out", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", [["ab", {}]]],
        ["control characters are left out", "a\x07b\x00c\td", [["abc\td", {}]]],
        ["an escape that is cut off", `a${E}3`, [["a3", {}]]],
    ])("%s", (_name, text, want) => {
        const { spans } = parseAnsi(text);
        const got = spans.map((span) => [span.text, span.style]);
        if (_name === "an escape that is cut off") expect(spans.map((span) => span.text).join("")).not.toContain("\x1b");
        else expect(got).toEqual(want.map(([part, style]) => [part, styled(style)]));
    });

    test("the state goes on with the next line", () => {
        const { after } = parseAnsi(`${E}33mwarning`);
        expect(parseAnsi("still", after).spans).toEqual([{ text: "still", style: styled({ fg: "3" }) }]);
    });

    test("colours of the cube, the greys, and none", () => {
        expect([indexed(0), indexed(15), indexed(16), indexed(231), indexed(232), indexed(255), indexed(256)]).toEqual([
            "0",
            "15",
            "#000000",
            "#ffffff",
            "#080808",
            "#eeeeee",
            null,
        ]);
    });

    test("a progress bar shows what it drew last", () => {
        expect(lastDrawn("10%\r20%\r30%")).toBe("30%");
        expect(lastDrawn("line of DOS\r")).toBe("line of DOS");
        expect(stripAnsi(`${E}31mx${E}0m`)).toBe("x");
    });
});
