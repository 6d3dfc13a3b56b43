/// Compare: two settings side by side, with a verdict for each figure.

import { AnswerView, wrong } from "../answer";
import { announce, h, put, quietly } from "../dom";
import { versus } from "../engine/client";
import type { Cell, Comparison, Value } from "../engine/types";
import type { Flow } from "../flow";
import { change, differences, told, verdict } from "../difference";
import { FormView } from "../form";
import { digits, life, type Shown, time } from "../format";
import { command, question } from "../question";
import { type Shared, USUAL } from "../share";

/** Figures that lead, with their words; the first that a report has is shown. */
const LEADING: [string, string][] = [
    ["loss", "Messages lost"], ["latency_p99", "99 % arrive within"], ["latency_avg", "Mean latency"],
    ["latency_p50", "Half arrive within"], ["channel_busy", "Channel busy"], ["current_mean", "Mean current"], ["battery_life", "Battery lasts"],
];

/** Makes the task. */
export function compareFlow(shared: Shared, changed: () => void): Flow {
    const a = (shared.settings ??= { ...USUAL });
    const b = (shared.other ??= { ...USUAL, rate: "24M" });
    const differ = h("p", { class: "differ" });
    const compareSettings = (): void => {
        differ.textContent = told(differences(a, b));
    };
    const verdicts = h("section", { class: "verdicts", "aria-label": "Verdict" });
    const judge = (): void => {
        if (!first.whole || !second.whole) return put(verdicts, h("p", { class: "state" }, "The verdict comes with both answers."));
        versus(second.whole.report, first.whole.report).then((pairs) => {
            put(verdicts, verdictTable(pairs));
            announce("The verdict is there.");
        }).catch((why: unknown) => put(verdicts, wrong(why)));
    };
    const first = new AnswerView("Setting A", (change) => forms[0].take(change), judge);
    const second = new AnswerView("Setting B", (change) => forms[1].take(change), judge);
    const ask = (it: typeof a, view: AnswerView) => (): void => {
        judge();
        view.ask(question(it), command(it));
    };
    const [askA, askB] = [ask(a, first), ask(b, second)];
    const [soonA, soonB] = [quietly(60, askA), quietly(60, askB)];
    const made = (name: string, settings: typeof a, soon: () => void): FormView =>
        new FormView(settings, { own: false, name, open: differences(a, b).map((it) => it.key) }, () => {
            changed();
            compareSettings();
            soon();
        });
    const forms = [made("Setting A", a, soonA), made("Setting B", b, soonB)] as const;
    const column = (view: FormView, answer: AnswerView): HTMLElement => h("div", { class: "column" }, view.element, answer.element);
    compareSettings();
    return {
        title: "Which is better?",
        lead: "Two settings, simulated alike. A figure is better only if its interval shows it.",
        element: h("div", {}, differ, verdicts, h("div", { class: "columns" }, column(forms[0], first), column(forms[1], second))),
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

/** Makes the verdicts: what differs first; what shows no difference is folded. */
export function verdictTable(pairs: Comparison[]): HTMLElement {
    const rows = LEADING.flatMap(([metric, words]) => {
        const it = pairs.find((pair) => pair.ours.metric === metric);
        return it ? [{ it, words, same: verdict(it).word === "no-difference-shown" }] : [];
    });
    const judged = rows.filter(({ it }) => verdict(it).word !== "not-comparable");
    const apart = rows.filter(({ it }) => verdict(it).word === "not-comparable");
    const [differ, alike] = [judged.filter((it) => !it.same), judged.filter((it) => it.same)];
    // What differs and has no interval is none without a difference.
    const [same, open] = [alike.filter(({ it }) => !it.lacks_interval), alike.filter(({ it }) => it.lacks_interval)];
    const fold = (rows: typeof same, words: string): HTMLElement | null => rows.length === 0 ? null
        : h("details", { class: "same" }, h("summary", {}, `${rows.length} ${words}: ${rows.map((it) => it.words.toLowerCase()).join(", ")}`), drawn(rows));
    return h("div", {},
        differ.length > 0 ? drawn(differ) : h("p", { class: "state" }, "No figure shows a difference."),
        fold(same, "without a difference shown"), fold(open, "without an interval"), fold(apart, "not comparable"));
}

function drawn(rows: { it: Comparison; words: string }[]): HTMLElement {
    const head = ["", "Verdict", "A", "B", "B is"].map((it) => h("th", { scope: "col" }, it));
    return h("table", { class: "big stacks" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows.map(({ it, words }) => row(it, words))));
}

function shown({ value, unit, metric }: Cell): string {
    if (value === null) return "–";
    const words = (it: Shown): string => `${it.value} ${it.unit}`;
    const alone = (by: number): Value => ({ value: value / by, ci_low: null, ci_high: null });
    if (metric === "battery_life") return words(life(alone(24)));
    if (unit === "ms") return words(time(alone(1)));
    return `${digits(value, 3)} ${unit === "percent" ? "%" : unit}`;
}

function row(it: Comparison, words: string): HTMLElement {
    const { word, words: said } = verdict(it);
    // Why an interval beside 1 is no difference; of the others nothing more is to be said.
    const notes = word === "no-difference-shown" ? it.notes ?? [] : [];
    const cell = (name: string, value: string): HTMLElement => h("td", { "data-name": name }, value);
    return h("tr", { class: word },
        h("th", { scope: "row" }, words),
        h("td", {}, h("span", { class: "verdict" }, said), ...notes.map((note) => h("span", { class: "hint note" }, note))),
        cell("A", shown(it.other)), cell("B", shown(it.ours)), cell("B is", change(it)));
}
