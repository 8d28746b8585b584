import { describe, expect, test } from "vitest";
import { layout, pathOf, type Edge } from "@console/graph/layout";
import { edgesOf, groupsOf, outsideOf, type Member } from "@console/screens/graph/parts";

const sizes = { width: 100, height: 40, gapX: 50, gapY: 10 };

function draw(ids: string[], edges: [string, string][]) {
    return layout(
        ids.map((id) => ({ id })),
        edges.map(([from, to]) => ({ from, to })),
        sizes,
    );
}

// Numbers that look random and are the same for the same seed.
function generator(seed: number): () => number {
    let state = seed;
    return () => {
        state = (state * 1103515245 + 12345) % 2147483648;
        return state / 2147483648;
    };
}

describe("layout", () => {
    test("nothing, and one alone", () => {
        expect(draw([], [])).toMatchObject({ width: 0, height: 0 });
        expect(draw(["a"], [])).toMatchObject({ width: 100, height: 40 });
    });

    test("a chain is a line", () => {
        const { nodes, width, height, edges } = draw(["c", "a", "b"], [["a", "b"], ["b", "c"]]);
        expect([...nodes]).toEqual([["c", { x: 300, y: 0 }], ["a", { x: 0, y: 0 }], ["b", { x: 150, y: 0 }]]);
        expect([width, height]).toEqual([400, 40]);
        expect(edges).toEqual([[{ x: 100, y: 20 }, { x: 150, y: 20 }], [{ x: 250, y: 20 }, { x: 300, y: 20 }]]);
    });

    test("a diamond has its ends in the middle", () => {
        const { nodes } = draw(["a", "b", "c", "d"], [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]]);
        const y = (id: string): number => nodes.get(id)!.y;
        expect(y("a")).toBeCloseTo((y("b") + y("c")) / 2);
        expect(y("d")).toBeCloseTo(y("a"));
        expect(Math.abs(y("b") - y("c"))).toBe(50);
    });

    test("an edge over several layers passes between the nodes of each", () => {
        const { nodes, edges } = draw(["a", "b", "c"], [["a", "b"], ["b", "c"], ["a", "c"]]);
        const way = edges[2]!;
        expect(way).toHaveLength(4);
        const beside = way[1]!.y;
        const b = nodes.get("b")!.y;
        expect(beside < b || beside > b + sizes.height).toBe(true);
    });

    test("crossings are undone where they can be", () => {
        const { nodes } = draw(["a", "b", "x", "y"], [["a", "y"], ["b", "x"]]);
        const y = (id: string): number => nodes.get(id)!.y;
        expect(Math.sign(y("a") - y("b"))).toBe(Math.sign(y("y") - y("x")));
    });

    test("unknown names, loops and cycles do no harm", () => {
        const { nodes, edges } = draw(["a", "b"], [["a", "gone"], ["a", "a"], ["a", "b"], ["b", "a"]]);
        expect(nodes.size).toBe(2);
        expect(edges[0]).toEqual([]);
        expect(edges[1]).toEqual([]);
        expect(edges).toHaveLength(4);
    });

    const seed = Number(process.env["PEAL_SEED"] ?? Date.now() % 1000000);
    test(`random graphs (PEAL_SEED=${seed}): inputs are left of what waits, and nothing overlaps`, () => {
        const random = generator(seed);
        for (let round = 0; round < 60; round++) {
            const count = 1 + Math.floor(random() * 60);
            const ids = Array.from({ length: count }, (_, i) => `n${i}`);
            const edges: Edge[] = [];
            for (let to = 1; to < count; to++)
                for (let i = Math.floor(random() * 4); i > 0; i--) edges.push({ from: ids[Math.floor(random() * to)]!, to: ids[to]! });
            const { nodes, width, height } = layout(ids.map((id) => ({ id })), edges, sizes);
            for (const { from, to } of edges) expect(nodes.get(from)!.x).toBeLessThan(nodes.get(to)!.x);
            const places = [...nodes.values()];
            for (const a of places) {
                expect(a.y >= -0.01 && a.x >= 0 && a.x + sizes.width <= width && a.y + sizes.height <= height + 0.01).toBe(true);
                for (const b of places) if (a !== b && a.x === b.x) expect(Math.abs(a.y - b.y)).toBeGreaterThan(sizes.height);
            }
        }
    });

    test("a path begins and ends where its edge does", () => {
        expect(pathOf([{ x: 0, y: 0 }, { x: 10, y: 5 }])).toBe("M0 0C5 0 5 5 10 5");
        expect(pathOf([])).toBe("");
    });
});

describe("the jobs of a filter", () => {
    const jobs = [
        { name: "c", after: [{ job: "b" }, { job: "away", on: "always" }] },
        { name: "b", after: [{ job: "a" }] },
        { name: "y", after: [{ job: "x" }] },
        { name: "a" },
        { name: "alone" },
        { name: "x" },
    ] as Member[];

    test("are in groups of those that are connected, the largest first", () => {
        expect(groupsOf(edgesOf(jobs)).map((group) => [group.names.join(""), group.edges.length])).toEqual([
            ["aawaybc", 3],
            ["xy", 1],
        ]);
        expect(groupsOf([])).toEqual([]);
    });

    test("may wait for jobs elsewhere", () => expect(outsideOf(jobs)).toEqual(["away"]));
});
