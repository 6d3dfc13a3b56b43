/// Board: the console of a board, and its flash, over Web Serial.

import { wrong } from "../answer";
import { announce, download, field, h, put } from "../dom";
import type { Flow } from "../flow";
import { hand } from "./doctor";

/** Characters of a console that the page keeps, and shows. */
const KEPT = 4 * 1024 * 1024;
const SHOWN = 64 * 1024;

/** Largest image that is written, in bytes: the largest flash of a chip. */
const LARGEST_IMAGE = 32 * 1024 * 1024;

interface Port {
    open(options: { baudRate: number }): Promise<void>;
    close(): Promise<void>;
    setSignals?(signals: { dataTerminalReady?: boolean; requestToSend?: boolean }): Promise<void>;
    readonly readable: ReadableStream<Uint8Array> | null;
    readonly writable: WritableStream<Uint8Array> | null;
}

interface Serial {
    requestPort(): Promise<Port>;
}

const serial = (navigator as unknown as { serial?: Serial }).serial;

/** Returns why there is no Web Serial; `undefined` where there is. */
function missing(): string | undefined {
    if (serial) return undefined;
    return window.isSecureContext
        ? "This browser has no Web Serial. Chrome, Edge and Opera on a computer have it; on Linux your user needs the group dialout."
        : "Web Serial is only for pages over https or from this machine: use espbench serve, or a host with a certificate.";
}

/** Makes the task. */
export function boardFlow(): Flow {
    const why = missing();
    if (why) {
        return {
            title: "Your board, here.",
            lead: "Flash it and read its console, with nothing installed.",
            element: h("div", { class: "zone" }, h("p", { class: "large" }, "Not in this browser"), h("p", {}, why),
                h("p", { class: "hint" }, "The command does the same anywhere: espbench board monitor, espbench board flash.")),
            start: () => undefined,
            end: () => undefined,
        };
    }
    return new BoardTask().flow();
}

class BoardTask {
    private port: Port | undefined;
    private reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    private kept = "";
    private dropped = 0;
    private pending = 0;
    private readonly screen = h("pre", { class: "console", tabindex: "0", role: "log", "aria-label": "Console of the board" });
    private readonly state = h("p", { class: "state", role: "status" });
    private readonly problem = h("div", {});
    private readonly baud = h("input", { type: "number", min: 1200, max: 4_000_000, value: 115_200 });
    private readonly input = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
    private readonly address = h("input", { type: "text", value: "0x0", pattern: "0x[0-9a-fA-F]{1,8}|[0-9]{1,10}" });
    private readonly image = h("input", { type: "file", accept: ".bin" });
    private readonly bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Flashing" });
    private readonly connectButton = h("button", { type: "button", class: "main", onclick: () => void this.toggle() }, "Connect a board");

    flow(): Flow {
        const send = h("form", { class: "line" }, field("Type at the console", this.input), h("button", { type: "submit" }, "Send"));
        send.addEventListener("submit", (event) => {
            event.preventDefault();
            void this.send();
        });
        const flash = h("details", {}, h("summary", {}, "Flash an image"),
            field("Image (.bin)", this.image, "A merged image, as espbench board flash and esptool merge_bin make it."),
            field("Address", this.address, "0x0 for a merged image."),
            h("button", { type: "button", onclick: () => void this.flash() }, "Write it"), this.bar);
        return {
            title: "Your board, here.",
            lead: "Its console and its flash, over Web Serial. What it says stays in this browser.",
            element: h("div", { class: "stack" },
                h("div", { class: "line" }, this.connectButton, field("Baud", this.baud),
                    h("button", { type: "button", onclick: () => void this.reset() }, "Reset"),
                    h("button", { type: "button", onclick: () => this.diagnose() }, "Ask the doctor"),
                    h("button", { type: "button", onclick: () => download("console.log", this.kept) }, "Save the log")),
                this.state, this.problem, this.screen, send, flash),
            start: () => undefined,
            end: () => void this.close(),
        };
    }

    private async toggle(): Promise<void> {
        put(this.problem);
        if (this.port) return this.close();
        try {
            this.port = await serial?.requestPort();
            await this.listen();
        } catch (why) {
            this.port = undefined;
            // Whoever closes the list of ports wants none.
            if ((why as Error).name !== "NotFoundError") put(this.problem, wrong(why));
        }
    }

    private async listen(): Promise<void> {
        const { port } = this;
        if (!port) return;
        await port.open({ baudRate: this.baud.valueAsNumber || 115_200 });
        this.connectButton.textContent = "Disconnect";
        this.say("Connected.");
        this.reader = port.readable?.getReader();
        void this.read();
    }

    private say(text: string): void {
        this.state.textContent = text;
        announce(text);
    }

    private async read(): Promise<void> {
        const decoder = new TextDecoder();
        const { reader } = this;
        try {
            while (reader) {
                const { done, value } = await reader.read();
                if (done) return;
                this.print(decoder.decode(value, { stream: true }));
            }
        } catch (why) {
            put(this.problem, wrong(why));
            await this.close();
        }
    }

    /** Keeps the last of what a board says; what is dropped is counted. */
    private print(text: string): void {
        this.kept += text;
        if (this.kept.length > KEPT) {
            const cut = this.kept.length - KEPT / 2;
            this.dropped += cut;
            this.kept = this.kept.slice(cut);
        }
        this.pending ||= requestAnimationFrame(() => {
            this.pending = 0;
            const follows = this.screen.scrollTop + this.screen.clientHeight >= this.screen.scrollHeight - 40;
            // Colours of terminals are no part of the text.
            this.screen.textContent = this.kept.slice(-SHOWN).replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, "").replaceAll("\r", "");
            if (follows) this.screen.scrollTop = this.screen.scrollHeight;
            if (this.dropped > 0) this.state.textContent = `The first ${this.dropped} characters were dropped.`;
        });
    }

    private async send(): Promise<void> {
        const writer = this.port?.writable?.getWriter();
        if (!writer) return this.say("Connect a board first.");
        try {
            await writer.write(new TextEncoder().encode(`${this.input.value}\r\n`));
            this.input.value = "";
        } catch (why) {
            put(this.problem, wrong(why));
        } finally {
            writer.releaseLock();
        }
    }

    /** Resets the board by the lines that auto-reset circuits have: RTS is EN, DTR is GPIO0. */
    private async reset(): Promise<void> {
        if (!this.port?.setSignals) return this.say("Connect a board first.");
        await this.port.setSignals({ dataTerminalReady: false, requestToSend: true });
        await new Promise((done) => setTimeout(done, 100));
        await this.port.setSignals({ requestToSend: false });
        this.say("The board was reset.");
    }

    private diagnose(): void {
        if (this.kept.trim() === "") return this.say("The board has not said anything yet.");
        hand(this.kept);
        location.hash = "doctor";
    }

    private async close(): Promise<void> {
        const [port, reader] = [this.port, this.reader];
        this.port = this.reader = undefined;
        this.connectButton.textContent = "Connect a board";
        try {
            await reader?.cancel();
            reader?.releaseLock();
            await port?.close();
        } catch {
            // It was unplugged: there is nothing to close.
        }
        if (port) this.say("Disconnected.");
    }

    private async flash(): Promise<void> {
        put(this.problem);
        const [file, address] = [this.image.files?.[0], Number(this.address.value)];
        const refuse = (why: string): void => put(this.problem, wrong(new Error(why)));
        if (!file) return refuse("choose an image first");
        if (file.size > LARGEST_IMAGE) return refuse(`${file.name} is larger than any flash: ${LARGEST_IMAGE >> 20} MB`);
        if (!Number.isInteger(address) || address < 0 || address > LARGEST_IMAGE) return refuse("the address is none of a flash: write 0x0");
        if (this.port) await this.close();
        try {
            const port = await serial?.requestPort();
            if (!port) return;
            const { ESPLoader, Transport } = await import("esptool-js");
            const transport = new Transport(port as never, false);
            const terminal = { clean: () => undefined, write: (text: string) => this.print(text), writeLine: (text: string) => this.print(`${text}\n`) };
            const loader = new ESPLoader({ transport, baudrate: 460_800, romBaudrate: 115_200, terminal });
            this.bar.hidden = false;
            this.say(`Found ${await loader.main()}. Writing …`);
            await loader.writeFlash({
                fileArray: [{ data: new Uint8Array(await file.arrayBuffer()), address }],
                flashMode: "keep", flashFreq: "keep", flashSize: "keep", eraseAll: false, compress: true,
                reportProgress: (_, written, total) => (this.bar.value = written / Math.max(1, total)),
            });
            await loader.after("hard_reset" as never);
            await transport.disconnect();
            this.say("The image is written.");
            this.port = port;
            await this.listen();
        } catch (why) {
            put(this.problem, wrong(why));
        } finally {
            this.bar.hidden = true;
        }
    }
}
