// Debian's Chromium on the built page: served by `espbench serve`, or by a plain server of files as any host is one.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../../", import.meta.url));
export const DIST = join(root, "../target/share/espbench/page");
export const COMMAND = process.env.ESPBENCH ?? join(root, "../target/debug/espbench");
/** Captures of known trouble. */
export const CAPTURES = join(root, "../crates/doctor/tests/cases");
export const hasCommand = existsSync(COMMAND);
const KINDS = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml", wasm: "application/wasm", webmanifest: "application/manifest+json" };

/** Serves the page without any header but the type, as a simple host does. */
export async function plainHost() {
    const server = createServer((request, response) => {
        const path = new URL(request.url, "http://x").pathname;
        const file = join(DIST, path === "/" ? "index.html" : path);
        if (!file.startsWith(DIST) || !existsSync(file)) return response.writeHead(404).end();
        response.writeHead(200, { "Content-Type": KINDS[file.split(".").pop()] ?? "application/octet-stream" }).end(readFileSync(file));
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    return { url: `http://127.0.0.1:${server.address().port}/`, close: () => new Promise((done) => (server.closeAllConnections(), server.close(done))) };
}

/** Serves it with the command. */
export async function commandHost() {
    const child = spawn(COMMAND, ["serve", "--page", DIST, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
    const url = await new Promise((found, failed) => {
        child.stdout.once("data", (text) => found(String(text).trim()));
        child.once("exit", (status) => failed(new Error(`espbench serve ended with ${status}`)));
    });
    return { url, close: () => new Promise((done) => (child.removeAllListeners("exit"), child.once("exit", done), child.kill("SIGINT"))) };
}

/** Starts the browser. */
export function browser() {
    const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
    return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
}

/** Opens the page, and takes note of what goes wrong on it and of what it fetches. */
export async function open(context, url) {
    const page = await context.newPage();
    const wrong = [];
    const fetched = [];
    page.on("pageerror", (error) => wrong.push(String(error)));
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    page.on("request", (request) => fetched.push(request.url()));
    page.on("dialog", (dialog) => (wrong.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
    await page.goto(url);
    return { page, wrong, fetched };
}

/** Waits for an answer that is whole; patience is for machines that do much else. */
export async function whole(page, name) {
    const answer = page.getByRole("region", { name, exact: true });
    await answer.locator("code").first().waitFor({ timeout: 240_000 });
    return answer;
}

/** Clicks what saves a file, and returns its text. */
export async function saved(page, button) {
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    return readFileSync(await download.path(), "utf8");
}
