import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const web = fileURLToPath(new URL("../../web", import.meta.url));

// `vitest run unit` needs nothing but node; `vitest run screens` a browser and the binaries.
export default defineConfig({
    esbuild: { jsx: "automatic", jsxImportSource: "preact" },
    resolve: { alias: { "@console": `${web}/src` } },
    server: { fs: { allow: [web] } },
    test: {
        fileParallelism: false,
        testTimeout: 120_000,
        hookTimeout: 120_000,
        reporters: [fileURLToPath(new URL("support/reporter.mjs", import.meta.url))],
        setupFiles: ["./support/browser_names.mjs"],
    },
});
