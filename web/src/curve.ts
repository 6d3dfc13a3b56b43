/// How a fleet scales: loss and latency over the number of devices, with their intervals.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { wrong } from "./answer";
import { colours, themed } from "./colour";
import { commandLine, h, put } from "./dom";
import { type Asked, EngineWorker, predict, type Predicted } from "./engine/client";
import { EngineError, type PredictionRow, type Report, type Value } from "./engine/types";
import { table } from "./figures";
import { command, question } from "./question";
import type { Settings } from "./share";

/** Numbers of devices around the one that is asked for. */
export function around(devices: number): number[] {
    const all = [1, 2, devices / 4, devices / 2, devices, devices * 1.5, devices * 2, devices * 3];
    const whole = all.map((it) => Math.min(2000, Math.max(1, Math.round(it))));
    return [...new Set(whole)].sort((a, b) => a - b);
}

function chart(box: HTMLElement, title: string, unit: string, rows: PredictionRow[], of: (row: PredictionRow) => Value | null): uPlot {
    const colour = colours(["faint", "grid", "line", "s0"]);
    const line = colour.s0 ?? "";
    const values = (pick: (value: Value) => number | null): (number | null)[] => rows.map((row) => {
        const value = of(row);
        return value ? pick(value) : null;
    });
    const data: uPlot.AlignedData = [rows.map((row) => row.devices), values((it) => it.value), values((it) => it.ci_low), values((it) => it.ci_high)];
    const axis = { stroke: colour.faint ?? "", grid: { stroke: colour.grid ?? "", width: 1 }, ticks: { stroke: colour.line ?? "", width: 1 }, font: "13px system-ui" };
    const none = { stroke: "transparent", points: { show: false } };
    const drawn = new uPlot({
        width: Math.max(220, box.clientWidth), height: 230, legend: { show: false }, cursor: { show: false },
        scales: { x: { time: false }, y: { range: (_, __, high) => [0, Math.max(high * 1.05, 1e-3)] } },
        axes: [{ ...axis, label: "devices", labelFont: "13px system-ui" }, { ...axis, size: 56 }],
        series: [{}, { stroke: line, width: 2.5, points: { show: true, size: 7, fill: line } }, none, none],
        bands: [{ series: [3, 2], fill: line.replace(/^rgb\((.*)\)$/, "rgba($1, 0.2)") }],
    }, data, box);
    drawn.root.setAttribute("role", "img");
    drawn.root.setAttribute("aria-label", `${title}, ${unit}: ${rows.map((row) => `${row.devices} devices ${of(row)?.value.toPrecision(3) ?? "not known"}`).join(", ")}`);
    return drawn;
}

/** The curves of a prediction, made when somebody asks. */
export class CurveView {
    readonly element: HTMLElement;
    private readonly asker = new EngineWorker();
    private readonly body = h("div", {});
    private readonly button: HTMLButtonElement;
    private asked: Asked | undefined;
    private charts: uPlot[] = [];
    private shown: (() => void) | undefined;
    private readonly unthemed = themed(() => this.shown?.());

    constructor(private readonly settings: Settings) {
        this.button = h("button", { type: "button", onclick: () => this.ask() }, "Show how it scales");
        this.element = h("section", { class: "part curve", "aria-label": "How it scales" }, this.button, this.body);
    }

    /** Forgets the curves: the settings are others. */
    forget(): void {
        this.asked?.stop();
        this.asked = undefined;
        this.shown = undefined;
        this.clear();
        put(this.body);
        this.button.hidden = false;
    }

    /** Ends its worker. */
    end(): void {
        this.forget();
        this.unthemed();
        this.asker.end();
    }

    private clear(): void {
        for (const it of this.charts) it.destroy();
        this.charts = [];
    }

    private ask(): void {
        this.button.hidden = true;
        put(this.body, h("p", { class: "state" }, "Simulating …"));
        const numbers = around(this.settings.devices);
        const line = command(this.settings, undefined, numbers);
        const asked = predict(this.asker, question(this.settings, undefined, numbers), (answer) => {
            if (asked === this.asked) this.show(answer, line);
        });
        this.asked = asked;
        asked.whole.catch((why: unknown) => {
            if (asked === this.asked && !(why instanceof EngineError && why.wrong.what === "stopped")) put(this.body, wrong(why));
        });
    }

    private show(answer: Predicted, line: string): void {
        const report = JSON.parse(answer.report) as Report;
        const rows = report.prediction?.rows ?? [];
        const [late, lost] = [h("div", { class: "chart" }), h("div", { class: "chart" })];
        const found = report.tables.find((it) => it.id === "predict-curve");
        put(this.body,
            h("div", { class: "charts" },
                h("figure", {}, h("figcaption", {}, "99 % arrive within (ms)"), late),
                h("figure", {}, h("figcaption", {}, "Messages lost (%)"), lost)),
            h("p", { class: "state" }, answer.whole ? "The band is the interval at 95 %." : `${answer.rooms} of ${answer.of} rooms …`),
            answer.whole ? commandLine(line) : null,
            answer.whole && found ? h("details", {}, h("summary", {}, "As a table"), table(found)) : null);
        this.shown = () => {
            this.clear();
            this.charts = [
                chart(late, "99 % arrive within", "milliseconds", rows, (row) => row.p99_ms),
                chart(lost, "messages lost", "percent", rows, (row) => row.loss_percent),
            ];
        };
        this.shown();
    }
}
