/// A prediction on the page: asked anew with each change, shown while it gets finer.

import { advice, bars, figures, type TryChange } from "./figures";
import { announce, commandLine, copy, download, h, put } from "./dom";
import { type Asked, EngineWorker, predict, type Predicted } from "./engine/client";
import { EngineError, type FleetQuestion, type Report } from "./engine/types";
import { digits, percent, time } from "./format";
import { LinkError } from "./share";

/** Makes the lines of an error. */
export function wrong(why: unknown): HTMLElement {
    if (why instanceof LinkError) return told("this link cannot be read", why.why, why.remedy);
    const it = why instanceof EngineError ? why.wrong : { what: "something went wrong", why: why instanceof Error ? why.message : String(why), remedy: "load the page again", line: 0 };
    return told(it.what, it.why, it.remedy);
}

function told(what: string, why: string, remedy: string): HTMLElement {
    return h("div", { class: "wrong", role: "alert" },
        h("p", { class: "what" }, what),
        why ? h("p", {}, `Why: ${why}`) : null,
        remedy ? h("p", {}, `Do: ${remedy}`) : null);
}

/** Returns parts of the latency, or causes of loss, of a report: they are stacked bars of a figure of it. */
function shares(report: Report, is: "latency" | "loss"): HTMLElement | null {
    const found = report.figures.find((it) => it.id === (is === "latency" ? "predict-stages" : "predict-causes"));
    const parts = (found?.series ?? []).map((it) => ({ name: it.name, share: it.points[0]?.y ?? 0 }));
    const most = Math.max(...parts.map((it) => it.share), 1e-9);
    const shown = (share: number): string => `${share >= 0.1 ? share.toFixed(1) : digits(share, 1)} %`;
    // Parts of the latency are parts of a whole; of losses the longest bar is the most frequent cause.
    const whole = is === "latency" ? 100 : most;
    const title = is === "latency" ? "Where the time goes" : "Why messages are lost, of all messages";
    return bars(title, parts.map((it) => ({ ...it, share: it.share / whole, shown: shown(it.share), role: is === "latency" ? "time" : "loss" })));
}

/** An answer that follows the settings. */
export class AnswerView {
    readonly element: HTMLElement;
    /** The whole answer, once it is there. */
    whole: Predicted | undefined;
    private readonly asker = new EngineWorker();
    private readonly state: HTMLElement;
    private readonly body: HTMLElement;
    private readonly line: HTMLElement;
    private asked: Asked | undefined;

    constructor(private readonly name: string, private readonly tryIt: TryChange, private readonly heard: (whole: boolean) => void = () => undefined) {
        this.state = h("p", { class: "state" });
        this.body = h("div", { class: "body", "aria-busy": "false" });
        this.line = h("div", { class: "line" });
        this.element = h("section", { class: "answer", "aria-label": name }, this.body, this.state, this.line);
    }

    /** Asks; whatever was asked before is dropped. */
    ask(question: FleetQuestion, command: string): void {
        this.asked?.stop();
        this.whole = undefined;
        this.body.setAttribute("aria-busy", "true");
        this.body.classList.add("old");
        this.state.textContent = "Simulating …";
        // The command and the report of another question are none of this one.
        put(this.line);
        const asked = predict(this.asker, question, (answer) => {
            if (asked === this.asked) this.show(answer, command);
        });
        this.asked = asked;
        asked.whole.catch((why: unknown) => {
            if (asked !== this.asked || (why instanceof EngineError && why.wrong.what === "stopped")) return;
            this.refuse(why);
        });
    }

    /** Tells why there is no answer. */
    refuse(why: unknown): void {
        this.stop();
        this.whole = undefined;
        this.body.setAttribute("aria-busy", "false");
        this.body.classList.remove("old");
        this.state.textContent = "";
        put(this.line);
        put(this.body, wrong(why));
        this.heard(false);
    }

    /** Drops what was asked. */
    stop(): void {
        this.asked?.stop();
        this.asked = undefined;
    }

    /** Ends its worker. */
    end(): void {
        this.stop();
        this.asker.end();
    }

    private show(answer: Predicted, command: string): void {
        const report = JSON.parse(answer.report) as Report;
        const prediction = report.prediction;
        if (!prediction) return;
        this.body.classList.remove("old");
        const open = this.body.querySelector("details")?.open === true;
        put(this.body, figures(prediction), advice(prediction, this.tryIt), shares(report, "latency"), shares(report, "loss"), energy(report));
        const details = this.body.querySelector("details");
        if (details) details.open = open;
        const took = (answer.took / 1000).toFixed(1);
        this.state.textContent = answer.whole ? `Simulated: ${answer.of} rooms, ${took} s. Intervals at 95 %.` : `${answer.rooms} of ${answer.of} rooms; the figures get finer …`;
        if (!answer.whole) return;
        this.whole = answer;
        this.body.setAttribute("aria-busy", "false");
        const row = prediction.rows[0];
        announce(`${this.name}: ${percent(row?.loss_percent).value} percent lost, 99 percent within ${time(row?.p99_ms).value} ${time(row?.p99_ms).unit}`);
        const copyButton = h("button", { type: "button", class: "small", onclick: () => void copy(command, copyButton, "Command copied") }, "Copy command");
        put(this.line,
            commandLine(command),
            copyButton,
            h("button", { type: "button", class: "small", onclick: () => download("report.json", answer.report) }, "Report (JSON)"));
        this.heard(true);
    }
}

function energy(report: Report): HTMLElement | null {
    const parts = report.prediction?.energy?.parts;
    if (!parts) return null;
    return bars("Where the charge goes", parts.map((it) => ({ name: it.part, share: it.share, shown: `${(it.share * 100).toFixed(1)} %` })));
}
