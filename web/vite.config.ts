import { defineConfig } from "vite";
import { packWords } from "./pack_words";

// Vite's own types describe node's; the console itself has none of them.
declare const process: { env: Record<string, string | undefined> };

// `npm run dev` talks to the agent whose socket PEAL_SOCKET names.
const target = { socketPath: process.env["PEAL_SOCKET"] ?? "/var/lib/peal/api.sock" };
const proxied = { target: target as never, changeOrigin: false };

// What is loaded together is packed together: many small files compress worse than a few, and each is
// a request. The lists are where one starts; the rest comes when it is first looked at.
const screens: Record<string, string> = {
    overview: "lists",
    jobs: "lists",
    runs: "lists",
    job: "details",
    run: "details",
    editor: "details",
    graph: "details",
    nodes: "details",
    login: "login",
};

function chunkOf(id: string): string {
    const screen = /\/src\/screens\/(\w+)\/(?!titles|screen)/.exec(id)?.[1];
    if (id.includes("/src/graph/")) return "details";
    return screen ? (screens[screen] ?? "others") : "shell";
}

export default defineConfig({
    plugins: [packWords()],
    esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
    server: { proxy: { "/api": proxied, "/livez": proxied, "/readyz": proxied, "/openapi.json": proxied, "/metrics": proxied } },
    build: {
        target: "es2022",
        minify: "terser", // a hundredth less than esbuild's
        terserOptions: { compress: { passes: 2 } },
        cssTarget: "esnext",
        cssCodeSplit: false, // together they compress to two thirds
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        reportCompressedSize: false,
        rollupOptions: { output: { manualChunks: chunkOf } },
    },
});
