// Each flow of the page, and the same figures as the command to the byte.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, CAPTURES, COMMAND, hasCommand, open, plainHost, saved, whole } from "./harness.mjs";

let chrome;
let host;
let work;

before(async () => {
    [chrome, host] = await Promise.all([browser(), plainHost()]);
    work = mkdtempSync(join(tmpdir(), "page-e2e-"));
});

after(async () => {
    await chrome?.close();
    await host?.close();
    rmSync(work, { recursive: true, force: true });
});

/** Returns what the command says, in the folder of the room's file. */
function command(line) {
    const words = line.split(" ");
    assert.equal(words.shift(), "espbench");
    return execFileSync(COMMAND, words, { cwd: work, encoding: "utf8", maxBuffer: 64 << 20 });
}

test("predict: sliders, and the command's report to the byte", async (t) => {
    const context = await chrome.newContext({ viewport: { width: 1280, height: 900 } });
    const { page, wrong, fetched } = await open(context, `${host.url}#predict`);
    const answer = await whole(page, "Prediction");
    const before = await answer.locator(".figures").textContent();
    await page.getByLabel("Devices").focus();
    for (let at = 0; at < 6; at++) await page.keyboard.press("ArrowRight");
    await page.getByLabel("PHY rate").evaluate((it) => (it.closest("details").open = true));
    await page.getByLabel("PHY rate").selectOption("24M");
    await answer.locator("code", { hasText: "24M" }).waitFor({ timeout: 240_000 });
    assert.notEqual(await answer.locator(".figures").textContent(), before, "another question has another answer");
    const line = await answer.locator("code").textContent();
    assert.match(line, /--devices 80 .*--phy-rate 24M/);
    const report = await saved(page, answer.getByRole("button", { name: "Report (JSON)" }));
    assert.equal(JSON.parse(report).prediction.rows[0].devices, 80);
    assert.deepEqual(wrong, []);
    assert.ok(fetched.every((it) => it.startsWith(host.url) || it.startsWith("blob:")), fetched.join("\n"));
    await context.close();
    if (!hasCommand) return t.diagnostic("no command: not compared");
    assert.equal(report, command(`${line} --format json -q`));
});

test("room: drawn by mouse and keys, run, and the same as the command to the byte", async (t) => {
    const context = await chrome.newContext({ viewport: { width: 1280, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });
    const { page, wrong } = await open(context, host.url);
    const plan = page.locator("canvas.plan");
    await page.getByRole("button", { name: "gateway" }).waitFor();
    const box = await plan.boundingBox();
    await page.getByRole("button", { name: "Device", exact: true }).click();
    await plan.click({ position: { x: box.width / 2, y: 40 } });
    await page.getByRole("button", { name: "sensor-1" }).waitFor();
    await page.getByRole("button", { name: "Wall", exact: true }).click();
    await page.mouse.move(box.x + 60, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 60, box.y + 200, { steps: 4 });
    await page.mouse.up();
    await page.getByRole("button", { name: "wall 2, brick" }).waitFor();
    await plan.focus();
    await page.keyboard.press("r");
    await page.getByRole("button", { name: "router-1" }).waitFor();
    const text = page.locator("textarea.code");
    const at = async () => /name = "router-1"[^[]*at = \[([^\]]*)\]/.exec(await text.inputValue())?.[1];
    const was = await at();
    await page.keyboard.press("Shift+ArrowRight");
    await page.waitForFunction((was) => !document.querySelector("textarea.code").value.includes(`at = [${was}]`), ` ${was.trim()} `);
    assert.notEqual(await at(), was);
    await page.keyboard.press("Delete");
    await page.getByRole("button", { name: "router-1" }).waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Run the room" }).click();
    const answer = await whole(page, "The room");
    await page.getByRole("button", { name: /^(Pause|Play)/ }).waitFor();
    assert.match(await page.locator(".clock").textContent(), /frames|room’s time/);
    const line = await answer.locator("code").textContent();
    const report = await saved(page, answer.getByRole("button", { name: "Report (JSON)" }));
    const lab = await text.inputValue();
    assert.deepEqual(wrong, []);

    // TOML the other way: a text draws the room.
    await page.locator("details.toml > summary").click();
    await text.fill(lab.replace('name = "sensor-1"', 'name = "attic"'));
    await page.getByRole("button", { name: "attic" }).waitFor();
    await text.fill(lab.replace('profile = "esp32c3"', 'profile = "esp33"'));
    await page.getByRole("alert").filter({ hasText: "line" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Run the room" }).isDisabled(), true);

    // A link has the room.
    await text.fill(lab);
    await page.waitForFunction(() => [...document.querySelectorAll("button.main")].every((it) => !it.disabled));
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("button", { name: "Link copied" }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, page.url());
    const other = await open(context, copied);
    await other.page.getByRole("button", { name: "sensor-1" }).waitFor();
    assert.equal(await other.page.locator("textarea.code").inputValue(), lab);
    await context.close();
    if (!hasCommand) return t.diagnostic("no command: not compared");
    writeFileSync(join(work, "room.toml"), lab);
    assert.equal(report, command(`${line} --format json -q`));
});

test("battery: life, and where the charge goes", async () => {
    const context = await chrome.newContext();
    const { page, wrong } = await open(context, `${host.url}#predict`);
    await page.getByLabel("Power").selectOption("2xAA");
    const answer = await whole(page, "Prediction");
    await answer.getByText("Battery lasts", { exact: true }).waitFor({ timeout: 120_000 });
    await answer.getByRole("heading", { name: "Where the charge goes" }).waitFor();
    assert.deepEqual(wrong, []);
    await context.close();
});

test("compare: a verdict for each figure", async () => {
    const context = await chrome.newContext();
    const { page, wrong } = await open(context, `${host.url}#compare`);
    const verdicts = page.getByRole("region", { name: "Verdict", exact: true });
    // A figure without a difference is folded.
    const figure = verdicts.getByRole("rowheader", { name: "99 % arrive within", includeHidden: true });
    await figure.waitFor({ state: "attached", timeout: 240_000 });
    assert.match(await verdicts.textContent(), /B is (better|worse)|differs; neither is better/);
    await page.getByText("B differs from A: PHY rate 24M (A: 1M).").waitFor();
    // A telephone shows the whole verdict.
    await page.setViewportSize({ width: 390, height: 800 });
    const cut = await verdicts.locator("table, td, th").evaluateAll((all) => all.filter((it) => it.getBoundingClientRect().right > innerWidth).length);
    assert.equal(cut, 0, "nothing of the verdict is out of sight");
    assert.doesNotMatch(await verdicts.textContent(), /not comparable/);
    assert.deepEqual(wrong, []);
    await context.close();
});

test("doctor: files dropped, and the command's diagnosis to the byte", async (t) => {
    const context = await chrome.newContext();
    const { page, wrong } = await open(context, `${host.url}#doctor`);
    const log = "I (5251) wifi:state: run -> init (0xf00)\nW (5252) wifi station: disconnected, reason: 15\n".repeat(4);
    const config = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=2440\n";
    writeFileSync(join(work, "boot.log"), log);
    writeFileSync(join(work, "sdkconfig"), config);
    await page.locator("input[type=file]").setInputFiles([join(work, "boot.log"), join(work, "sdkconfig")]);
    const result = page.getByRole("region", { name: "Diagnosis" });
    await result.getByRole("heading", { level: 2 }).waitFor({ timeout: 120_000 });
    assert.ok((await result.locator(".finding").count()) >= 2);
    const text = await saved(page, result.getByRole("button", { name: "Diagnosis (JSON)" }));
    await page.getByRole("button", { name: "Try an example" }).click();
    await result.getByText("example.log").waitFor();

    const dropped = await page.evaluateHandle(() => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(["abort() was called at PC 0x42007b5b on core 0\n"], "crash.log"));
        return transfer;
    });
    await page.dispatchEvent(".zone", "drop", { dataTransfer: dropped });
    await result.getByText("crash.log").waitFor();
    assert.deepEqual(wrong, []);
    await context.close();
    if (!hasCommand) return t.diagnostic("no command: not compared");
    assert.equal(text, command("espbench doctor boot.log sdkconfig --no-proof --format json"));
});

test("doctor: a capture, and the command's diagnosis to the byte", async (t) => {
    const context = await chrome.newContext();
    const { page, wrong } = await open(context, `${host.url}#doctor`);
    copyFileSync(join(CAPTURES, "capture-ap-full.pcap"), join(work, "air.pcap"));
    const [files, result] = [page.locator("input[type=file]"), page.getByRole("region", { name: "Diagnosis" })];
    await files.setInputFiles(join(work, "air.pcap"));
    await result.locator(".evidence").getByText(/^frame \d+$/).first().waitFor({ timeout: 120_000 });
    const text = await saved(page, result.getByRole("button", { name: "Diagnosis (JSON)" }));
    // Cut in its header, and of something else: a sentence, and the next file is read.
    for (const bytes of [readFileSync(join(work, "air.pcap")).subarray(0, 20), Buffer.alloc(100)]) {
        await files.setInputFiles({ name: "odd.bin", mimeType: "application/octet-stream", buffer: bytes });
        await result.getByRole("alert").filter({ hasText: "odd.bin is no" }).waitFor();
    }
    await page.getByRole("button", { name: "Try an example" }).click();
    await result.locator(".finding").first().waitFor();
    assert.deepEqual(wrong, []);
    await context.close();
    if (!hasCommand) return t.diagnostic("no command: not compared");
    assert.equal(text, command("espbench doctor air.pcap --no-proof --format json"));
});

test("board: a console over Web Serial, and a reason where there is none", async () => {
    const context = await chrome.newContext();
    // A port of paper: says two lines, and repeats what it is told.
    await context.addInitScript(() => {
        let talk;
        const port = {
            open: async () => undefined,
            close: async () => undefined,
            setSignals: async () => undefined,
            readable: new ReadableStream({ start: (it) => {
                talk = it;
                it.enqueue(new TextEncoder().encode("\u001b[0;32mI (31) boot: hello <img src=x onerror=alert(1)>\u001b[0m\r\n"));
            } }),
            writable: new WritableStream({ write: (bytes) => talk.enqueue(bytes) }),
        };
        Object.defineProperty(navigator, "serial", { value: { requestPort: async () => port } });
    });
    const { page, wrong } = await open(context, `${host.url}#board`);
    await page.getByRole("button", { name: "Connect a board" }).click();
    const screen = page.getByRole("log");
    await screen.getByText("boot: hello <img").waitFor();
    assert.equal(await screen.locator("img").count(), 0);
    await page.getByLabel("Type at the console").fill("help");
    await page.keyboard.press("Enter");
    await screen.getByText("help").waitFor();
    await page.getByRole("button", { name: "Ask the doctor" }).click();
    await page.getByRole("region", { name: "Diagnosis" }).getByText("console.log").waitFor();
    assert.deepEqual(wrong, []);
    await context.close();

    const without = await chrome.newContext();
    await without.addInitScript(() => Object.defineProperty(Navigator.prototype, "serial", { value: undefined }));
    const plain = await open(without, `${host.url}#board`);
    await plain.page.getByText("Not in this browser").waitFor();
    assert.equal(await plain.page.getByRole("button", { name: "Connect a board" }).count(), 0);
    await without.close();
});
