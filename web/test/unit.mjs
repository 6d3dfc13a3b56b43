// Bundles the unit tests, and runs them in node.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const out = mkdtempSync(join(tmpdir(), "page-unit-"));
const tests = readdirSync("test/unit").filter((it) => it.endsWith(".test.ts"));
await build({ entryPoints: tests.map((it) => `test/unit/${it}`), outdir: out, outExtension: { ".js": ".mjs" }, bundle: true, platform: "node", format: "esm", logLevel: "error" });
const files = readdirSync(out).map((it) => join(out, it));
const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
rmSync(out, { recursive: true });
process.exit(status ?? 1);
