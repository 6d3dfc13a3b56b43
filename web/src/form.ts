/// Settings of the messages as sliders and choices.

import { field, h, put, select } from "./dom";
import { period } from "./format";
import { PLACES, PROFILES } from "./question";
import { PERIODS, RATES, ROOMS, type Settings, SLEEPS } from "./share";

/** Steps of the slider for devices. */
const DEVICES = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 130, 160, 200, 250, 300];

/** Steps of the slider for payloads. */
const PAYLOADS = [8, 16, 25, 32, 50, 64, 100, 128, 150, 200, 230];

const BATTERIES = [["", "mains"], ["2xAA", "two AA"], ["3xAAA", "three AAA"], ["CR2032", "CR2032"], ["CR123A", "CR123A"], ["18650", "18650"], ["LiPo-500", "LiPo, 500 mAh"], ["LiPo-2000", "LiPo, 2000 mAh"]] as const;
const SLEEP_WORDS: Record<string, string> = { "": "as usual", deep: "deep sleep", light: "light sleep", modem: "modem sleep", none: "never" };

/** Makes a slider over steps; people hear the step, not its number. */
function slider(label: string, steps: readonly number[], value: number, shown: (value: number) => string, changed: (value: number) => void): HTMLElement {
    const all = steps.includes(value) ? steps : [...steps, value].sort((a, b) => a - b);
    const input = h("input", { type: "range", min: 0, max: all.length - 1, step: 1 });
    input.value = String(all.indexOf(value));
    const output = h("output", { class: "now" }, shown(value));
    const tell = (): number => {
        const now = all[Number(input.value)] ?? value;
        output.textContent = shown(now);
        input.setAttribute("aria-valuetext", shown(now));
        return now;
    };
    input.addEventListener("input", () => changed(tell()));
    tell();
    const box = field(label, input);
    box.classList.add("slider");
    box.append(output);
    return box;
}

/** Options of a form. */
export interface FormOptions {
    /** The room is drawn: place, devices and chip are its own. */
    own: boolean;
    /** Words before the labels, where two forms stand side by side. */
    name?: string;
    /** Settings that must be seen, even if they are among the further ones. */
    open?: (keyof Settings)[];
}

/** A form that is made anew where settings are changed from outside. */
export class FormView {
    readonly element = h("div", {});

    constructor(private readonly settings: Settings, private readonly options: FormOptions, private readonly changed: () => void) {
        put(this.element, form(settings, options, changed));
    }

    /** Takes settings over, shows them, and tells of the change. */
    take(some: Partial<Settings>): void {
        Object.assign(this.settings, some);
        put(this.element, form(this.settings, { ...this.options, open: Object.keys(some) as (keyof Settings)[] }, this.changed));
        this.changed();
    }
}

/** Makes the form of settings; `changed` hears of each change. */
function form(settings: Settings, options: FormOptions, changed: () => void): HTMLElement {
    const choice = (label: string, of: readonly (readonly [string, string])[], key: "room" | "profile" | "rate" | "battery" | "sleep" | "cast"): HTMLElement =>
        field(label, select(of.some(([word]) => word === settings[key]) ? of : [...of, [settings[key], settings[key]] as const], settings[key], (value) => {
            (settings as unknown as Record<string, string>)[key] = value;
            changed();
        }));
    const slide = (label: string, steps: readonly number[], key: "devices" | "every" | "payload" | "walls", shown: (value: number) => string): HTMLElement =>
        slider(label, steps, settings[key], shown, (value) => {
            settings[key] = value;
            changed();
        });
    const further: (keyof Settings)[] = ["rate", "cast", "sleep", "walls"];
    const rest = h("details", { class: "more", open: further.some((it) => options.open?.includes(it)) }, h("summary", {}, "More settings"),
        choice("PHY rate", RATES.map((it) => [it, it || "1M, the default"] as const), "rate"),
        choice("Sent", [["unicast", "to the gateway, acknowledged"], ["broadcast", "to all, not acknowledged"]], "cast"),
        choice("Sleep between messages", SLEEPS.map((it) => [it, SLEEP_WORDS[it] ?? it] as const), "sleep"),
        options.own ? null : slide("Walls between", [0, 1, 2, 3, 4, 5], "walls", String));
    return h("fieldset", { class: "form" },
        h("legend", {}, options.name ?? "Settings"),
        options.own ? null : choice("Place", ROOMS.map((it) => [it, PLACES[it]?.words ?? it] as const), "room"),
        options.own ? null : slide("Devices", DEVICES, "devices", String),
        slide("A message every", PERIODS, "every", period),
        slide("Bytes of a message", PAYLOADS, "payload", (it) => `${it} B`),
        options.own ? null : choice("Chip", PROFILES.map((it) => [it, it.toUpperCase().replace("ESP32", "ESP32-").replace(/-$/, "")] as const), "profile"),
        choice("Power", BATTERIES, "battery"),
        rest);
}
