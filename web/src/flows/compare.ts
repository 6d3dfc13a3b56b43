/// Compare: two settings side by side, with a verdict for each figure.

import { AnswerView, wrong } from "../answer";
import { announce, h, put, quietly } from "../dom";
import { versus } from "../engine/client";
import type { Cell, Comparison, Value } from "../engine/types";
import type { Flow } from "../flow";
import { form } from "../form";
import { digits, life, type Shown, time } from "../format";
import { command, question } from "../question";
import { type Shared, USUAL } from "../share";

/** Figures that lead, with their words; the first that a report has is shown. */
const LEADING: [string, string][] = [
    ["loss", "Messages lost"], ["latency_p99", "99 % arrive within"], ["latency_avg", "Mean latency"],
    ["latency_p50", "Half arrive within"], ["channel_busy", "Channel busy"], ["current_mean", "Mean current"], ["battery_life", "Battery lasts"],
];

const WORDS: Record<string, string> = {
    better: "B is better", worse: "B is worse", "no-difference-shown": "no difference shown", "not-comparable": "not comparable",
};

/** Makes the task. */
export function compareFlow(shared: Shared, changed: () => void): Flow {
    const a = (shared.settings ??= { ...USUAL });
    const b = (shared.other ??= { ...USUAL, rate: "24M" });
    const verdicts = h("section", { class: "verdicts", "aria-label": "Verdict" });
    const judge = (): void => {
        if (!first.whole || !second.whole) return put(verdicts, h("p", { class: "state" }, "The verdict comes with both answers."));
        versus(second.whole.report, first.whole.report).then((pairs) => {
            put(verdicts, table(pairs));
            announce("The verdict is there.");
        }).catch((why: unknown) => put(verdicts, wrong(why)));
    };
    const first = new AnswerView("Setting A", judge);
    const second = new AnswerView("Setting B", judge);
    const ask = (it: typeof a, view: AnswerView) => (): void => {
        judge();
        view.ask(question(it), command(it));
    };
    const [askA, askB] = [ask(a, first), ask(b, second)];
    const [soonA, soonB] = [quietly(60, askA), quietly(60, askB)];
    const column = (name: string, settings: typeof a, view: AnswerView, soon: () => void): HTMLElement =>
        h("div", { class: "column" }, form(settings, { own: false, name }, () => {
            changed();
            soon();
        }), view.element);
    return {
        title: "Which is better?",
        lead: "Two settings, simulated alike. A figure is better only if its interval shows it.",
        element: h("div", {}, verdicts, h("div", { class: "columns" }, column("Setting A", a, first, soonA), column("Setting B", b, second, soonB))),
        start: () => {
            askA();
            askB();
        },
        end: () => {
            first.end();
            second.end();
        },
    };
}

function table(pairs: Comparison[]): HTMLElement {
    const rows = LEADING.flatMap(([metric, words]) => {
        const it = pairs.find((pair) => pair.ours.metric === metric);
        return it ? [row(it, words)] : [];
    });
    const head = ["", "Verdict", "A", "B", "B is"].map((it) => h("th", { scope: "col" }, it));
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Verdicts" },
        h("table", { class: "big" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)));
}

function shown({ value, unit, metric }: Cell): string {
    if (value === null) return "–";
    const words = (it: Shown): string => `${it.value} ${it.unit}`;
    const alone = (by: number): Value => ({ value: value / by, ci_low: null, ci_high: null });
    if (metric === "battery_life") return words(life(alone(24)));
    if (unit === "ms") return words(time(alone(1)));
    return `${digits(value, 3)} ${unit === "percent" ? "%" : unit}`;
}

/** Returns how B differs from A: by a factor, or of shares by their difference. */
function change(it: Comparison): string {
    const told = (value: number | null, low: number | null, high: number | null, unit: string): string | undefined => {
        if (value === null) return undefined;
        const ends = low === null || high === null ? "" : ` [${digits(low, 3)} to ${digits(high, 3)}]`;
        return `${digits(value, 3)}${ends} ${unit}`;
    };
    const away = it.ours.unit === "percent" ? "points away" : `${it.ours.unit} away`;
    return told(it.ratio, it.ratio_low, it.ratio_high, "times A") ?? told(it.difference, it.difference_low, it.difference_high, away) ?? "–";
}

function row(it: Comparison, words: string): HTMLElement {
    // Why an interval beside 1 is no difference; of the others nothing more is to be said.
    const notes = it.verdict === "no-difference-shown" ? it.notes ?? [] : [];
    return h("tr", { class: it.verdict },
        h("th", { scope: "row" }, words),
        h("td", {}, h("span", { class: "verdict" }, WORDS[it.verdict] ?? it.verdict), ...notes.map((note) => h("span", { class: "hint note" }, note))),
        h("td", {}, shown(it.other)),
        h("td", {}, shown(it.ours)),
        h("td", {}, change(it)));
}
