/// Doctor: files dropped on the page, and the cause of the trouble. No byte leaves the browser.

import { wrong } from "../answer";
import { announce, download, field, h, put } from "../dom";
import { EngineWorker } from "../engine/client";
import type { Diagnosis, Finding } from "../engine/types";
import type { Flow } from "../flow";

/** Most of a file that is read, in bytes: a log of a day has some tens of megabytes. */
const MOST_BYTES = 1024 * 1024 * 1024;

/** Words before the number of a place. */
const PLACES: Record<string, string> = { log: "line ", "sdk-config": "sdkconfig line ", capture: "frame ", "core-dump": "task " };

const EXAMPLE = `I (1231) wifi:state: init -> auth (0xb0)
I (1240) wifi:state: auth -> assoc (0x0)
I (1251) wifi:state: assoc -> run (0x10)
I (5251) wifi:state: run -> init (0xf00)
W (5252) wifi station: disconnected, reason: 15
I (7301) wifi:state: init -> auth (0xb0)
I (7312) wifi:state: auth -> assoc (0x0)
I (7322) wifi:state: assoc -> run (0x10)
I (11322) wifi:state: run -> init (0xf00)
W (11323) wifi station: disconnected, reason: 15
`;

/** Text of a console that another task hands over. */
let handed: string | undefined;

/** Hands a console's text to the doctor. */
export function hand(text: string): void {
    handed = text;
}

/** Makes the task. */
export function doctorFlow(): Flow {
    const worker = new EngineWorker();
    const result = h("section", { class: "wide", "aria-label": "Diagnosis", "aria-live": "off" });
    let number = 0;
    const examine = async (files: File[]): Promise<void> => {
        if (files.length === 0) return;
        const mine = ++number;
        const state = h("p", { class: "state" }, "Reading …");
        put(result, state);
        try {
            await worker.ask({ ask: "forget" });
            for (const file of files) {
                if (file.size > MOST_BYTES) throw new RangeError(`${file.name} has more than a gigabyte: give the part around the trouble`);
                await worker.ask({ ask: "open", name: file.name });
                const reader = file.stream().getReader();
                let read = 0;
                for (;;) {
                    const { done, value } = await reader.read();
                    if (done || mine !== number) break;
                    read += value.length;
                    await worker.put(value.slice());
                    state.textContent = `Reading ${file.name}, ${((100 * read) / Math.max(1, file.size)).toFixed(0)} %`;
                }
            }
            if (mine !== number) return;
            const text = await worker.ask<string>({ ask: "diagnose" });
            if (mine === number) show(result, text);
        } catch (why) {
            if (mine === number) put(result, wrong(why));
        }
    };
    const input = h("input", { type: "file", multiple: true, class: "away", tabindex: -1, "aria-label": "Files for the doctor", onchange: () => void examine([...(input.files ?? [])]) });
    const zone = h("div", { class: "zone" },
        h("p", { class: "large" }, "Drop a console log, its sdkconfig, or a capture"),
        h("p", { class: "hint" }, "A log of idf.py monitor, Arduino, ESPHome, MicroPython or any terminal; pcap or pcapng of Wireshark or tcpdump. Nothing is uploaded."),
        h("div", { class: "line" },
            h("button", { type: "button", class: "main", onclick: () => input.click() }, "Choose files"), input,
            h("button", { type: "button", onclick: () => void examine([new File([EXAMPLE], "example.log")]) }, "Try an example")));
    const over = (is: boolean) => (event: DragEvent): void => {
        event.preventDefault();
        zone.classList.toggle("over", is);
    };
    zone.addEventListener("dragover", over(true));
    zone.addEventListener("dragleave", over(false));
    zone.addEventListener("drop", (event) => {
        over(false)(event);
        void examine([...(event.dataTransfer?.files ?? [])]);
    });
    const pasted = h("textarea", { rows: 6, spellcheck: "false", autocomplete: "off" });
    const paste = h("details", {}, h("summary", {}, "Or paste a log"), field("Log", pasted),
        h("button", { type: "button", onclick: () => void examine([new File([pasted.value], "pasted.log")]) }, "Diagnose"));
    return {
        title: "What is wrong?",
        lead: "The doctor reads what your board printed, or what was captured of it, and names the cause with the places that show it.",
        element: h("div", { class: "stack" }, zone, paste, result),
        start: () => {
            if (handed === undefined) return;
            const text = handed;
            handed = undefined;
            void examine([new File([text], "console.log")]);
        },
        end: () => worker.end(),
    };
}

function show(result: HTMLElement, text: string): void {
    const { diagnoses } = JSON.parse(text) as { diagnoses: Diagnosis[] };
    put(result, ...diagnoses.map(diagnosis), h("div", { class: "line" },
        h("button", { type: "button", class: "small", onclick: () => download("diagnosis.json", text) }, "Diagnosis (JSON)")));
    announce(diagnoses.map((it) => it.answer).join("; "));
}

function diagnosis(it: Diagnosis): HTMLElement {
    const lines = it.lines === null ? "" : `, ${it.lines} lines, ${it.recorded ?? 0} of a known format`;
    return h("article", { class: `diagnosis ${it.verdict}` },
        h("p", { class: "hint" }, `${it.files.join(" and ")}${lines}`),
        // A cause has its own heading, and the first one is the answer.
        it.findings.length > 0 ? null : h("h2", {}, upper(it.answer)),
        ...it.findings.map(finding),
        ...it.contradictions.map((text) => h("p", { class: "warning" }, `Contradiction: ${text}`)),
        ...it.notes.map((text) => h("p", { class: "note" }, text)));
}

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function finding(it: Finding, at: number): HTMLElement {
    const times = it.incidents === 1 ? "once" : `${it.incidents} times`;
    const places = it.evidence.map((place) => h("li", {}, h("span", { class: "at" }, `${PLACES[place.source] ?? ""}${place.line}`), h("code", {}, place.text)));
    return h("section", { class: "finding" },
        at === 0 ? h("h2", {}, upper(it.title)) : h("h3", {}, `${at + 1}. ${upper(it.title)}`),
        h("p", { class: "hint" }, `${times}, ${(it.share * 100).toFixed(0)} % of what went wrong; certainty ${it.certainty}`),
        places.length > 0 ? h("ol", { class: "evidence" }, ...places) : null,
        h("p", {}, h("strong", {}, "Do: "), it.remedy),
        h("p", {}, h("strong", {}, "Confirm: "), it.confirm));
}
