/// Predict: sliders, and an answer that follows them.

import { AnswerView } from "../answer";
import { CurveView } from "../curve";
import { h, quietly } from "../dom";
import { FormView } from "../form";
import { command, question } from "../question";
import type { Shared } from "../share";
import { USUAL } from "../share";
import type { Flow } from "../flow";

/** Makes the task. */
export function predictFlow(shared: Shared, changed: () => void): Flow {
    const settings = (shared.settings ??= { ...USUAL });
    const answer = new AnswerView("Prediction", (change) => view.take(change));
    const curve = new CurveView(settings);
    const ask = (): void => answer.ask(question(settings), command(settings));
    const soon = quietly(60, ask);
    const view = new FormView(settings, { own: false }, () => {
        changed();
        curve.forget();
        soon();
    });
    const element = h("div", { class: "split" },
        h("div", { class: "side" }, view.element),
        h("div", { class: "wide" }, answer.element, curve.element));
    return {
        title: "Will it do?",
        lead: "Choose a place and what your devices send. Each change is simulated at once.",
        element,
        start: ask,
        end: () => {
            answer.end();
            curve.end();
        },
    };
}
