import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

/** Writes the service worker with the names of all files, so that a page that was loaded once works offline. */
function serviceWorker(): Plugin {
    return {
        name: "service-worker",
        apply: "build",
        generateBundle(_, bundle) {
            const files = Object.keys(bundle).filter((it) => it !== "index.html" && !it.endsWith(".map"));
            const names = ["./", "icon.svg", "manifest.webmanifest", ...files.sort()];
            const hash = createHash("sha256");
            for (const it of Object.values(bundle)) {
                hash.update(it.fileName);
                hash.update(it.type === "chunk" ? it.code : it.source);
            }
            const source = readFileSync("src/sw.js", "utf8")
                .replace("__FILES__", JSON.stringify(names))
                .replace("__VERSION__", hash.digest("hex").slice(0, 16));
            this.emitFile({ type: "asset", fileName: "sw.js", source });
        },
    };
}

export default defineConfig({
    // Any folder of any host.
    base: "./",
    // Where the command in target/debug or target/release looks for it, too.
    build: { outDir: "../target/share/espbench/page", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
    worker: { format: "es" },
    plugins: [serviceWorker()],
});
