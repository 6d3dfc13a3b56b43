/// The answer: a few large figures with their intervals, what limits them, and the change to make next.

import { digits, life, line, percent, type Shown, time } from "./format";
import { setting, words as changeWords } from "./change";
import { h } from "./dom";
import type { Settings } from "./share";
import type { Prediction, ReportTable } from "./engine/types";

/** Makes a large figure. */
export function figure(label: string, it: Shown, help = ""): HTMLElement {
    return h("div", { class: "figure" },
        h("dt", {}, label),
        h("dd", {}, h("span", { class: "value" }, it.value), it.unit ? h("span", { class: "unit" }, ` ${it.unit}`) : null),
        h("dd", { class: "interval" }, it.interval),
        help ? h("dd", { class: "hint" }, help) : null);
}

/** Makes the figures of a prediction. */
export function figures(prediction: Prediction): HTMLElement {
    const row = prediction.rows[0];
    const list = h("dl", { class: "figures" });
    if (!row) return list;
    list.append(
        figure("Messages lost", percent(row.loss_percent)),
        figure("99 % arrive within", time(row.p99_ms)),
        figure("Channel busy", percent(row.channel_busy_percent), own(row.own_busy_percent)));
    const days = prediction.energy?.life_days ?? row.life_days;
    if (days) list.append(figure("Battery lasts", life(days)));
    else if (prediction.energy?.mean_ma) list.append(figure("Mean current", currentOf(prediction)));
    return list;
}

function own(share: number | undefined): string {
    return share === undefined ? "" : `of it yours ${digits(share, 3)} %`;
}

function currentOf(prediction: Prediction): Shown {
    const it = prediction.energy?.mean_ma;
    if (!it) return percent(null);
    const end = (value: number | null): string => (value === null ? "?" : digits(value, 2));
    return { value: digits(it.value, 2), unit: "mA", interval: `${end(it.ci_low)} to ${end(it.ci_high)}` };
}

/** Makes bars of shares that add up to a whole. */
export function bars(title: string, parts: { name: string; share: number; shown: string; role?: string }[]): HTMLElement | null {
    const told = parts.filter((it) => it.share > 0.0005);
    if (told.length === 0) return null;
    const list = h("ul", { class: "bars" }, ...told.map((it, at) => {
        const bar = h("span", { class: `bar ${it.role ?? `c${at % 6}`}` });
        bar.style.width = `${Math.max(0.5, it.share * 100).toFixed(1)}%`;
        return h("li", {}, h("span", { class: "name" }, it.name), h("span", { class: "track", "aria-hidden": "true" }, bar), h("span", { class: "share" }, it.shown));
    }));
    return h("section", { class: "part" }, h("h3", {}, title), list);
}

/** Takes a change over into the form. */
export type TryChange = (change: Partial<Settings>) => void;

/** Makes what limits the figures, and what to change. */
export function advice(prediction: Prediction, tryIt: TryChange): HTMLElement {
    const words = prediction.limited_by.map((it) => `${it.part}, ${(it.share * 100).toFixed(0)} % of the ${it.of}`);
    const changes = prediction.changes ?? [];
    return h("div", { class: "advice" },
        words.length > 0 ? h("p", {}, h("strong", {}, "Limited by: "), `${words.join("; ")}.`) : null,
        next(prediction, tryIt),
        ...(prediction.warnings ?? []).map((it) => h("p", { class: "warning" }, it)),
        changes.length > 0 ? h("details", {}, h("summary", {}, `${changes.length} changes were tried, each alone`), changeTable(prediction)) : null);
}

/** Makes the change to make next: each that helps beyond chance, with a button where the form has that setting. */
function next(prediction: Prediction, tryIt: TryChange): HTMLElement | null {
    const changes = prediction.changes ?? [];
    const better = changes.filter((it) => it.place !== undefined).sort((a, b) => (a.place ?? 0) - (b.place ?? 0)).slice(0, 3);
    if (better.length === 0 && (prediction.next || changes.length === 0)) return prediction.next ? h("p", { class: "next" }, h("strong", {}, "Next: "), prediction.next) : null;
    if (better.length === 0) return h("p", { class: "next" }, h("strong", {}, "Next: "), `none of ${changes.length} changes that were tried helps by more than chance.`);
    return h("ul", { class: "next" }, ...better.map((it) => {
        const change = setting(it);
        const lives = it.figures.life_days ? `${life(it.figures.life_days).value} ${life(it.figures.life_days).unit}, ` : "";
        const gives = `${changeWords(it)}: ${lives}${percent(it.figures.loss_percent).value} % lost, 99 % within ${time(it.figures.p99_ms).value} ${time(it.figures.p99_ms).unit}`;
        return h("li", {}, h("strong", {}, "Next: "), `${gives} `,
            change ? h("button", { type: "button", class: "small", onclick: () => tryIt(change) }, `Try ${changeWords(it)}`) : null);
    }));
}

function changeTable(prediction: Prediction): HTMLElement {
    const rows = (prediction.changes ?? []).map((it) => h("tr", {},
        h("th", { scope: "row" }, changeWords(it)),
        h("td", {}, line(percent(it.figures.loss_percent))),
        h("td", {}, line(time(it.figures.p99_ms))),
        h("td", {}, it.helps ? "better" : "no")));
    const head = ["change", "lost", "99 % within", "helps beyond chance"].map((it) => h("th", { scope: "col" }, it));
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Changes that were tried" },
        h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)));
}

/** Makes a table of a report. */
export function table(it: ReportTable): HTMLElement {
    const head = it.columns.map((column) => h("th", { scope: "col" }, column.unit ? `${column.name} (${column.unit})` : column.name));
    const rows = it.rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))));
    return h("section", { class: "part" }, h("h3", {}, it.title),
        h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": it.title },
            h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows))));
}
