import { defineConfig } from "vite";

// Vite's own types describe node's; the console itself has none of them.
declare const process: { env: Record<string, string | undefined> };

// `npm run dev` talks to the agent whose socket PEAL_SOCKET names.
const target = { socketPath: process.env["PEAL_SOCKET"] ?? "/var/lib/peal/api.sock" };
const proxied = { target: target as never, changeOrigin: false };

export default defineConfig({
    esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
    server: { proxy: { "/api": proxied, "/livez": proxied, "/readyz": proxied, "/openapi.json": proxied } },
    build: {
        target: "es2022",
        cssTarget: "esnext",
        cssCodeSplit: false, // together they compress to two thirds
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        reportCompressedSize: false,
    },
});
