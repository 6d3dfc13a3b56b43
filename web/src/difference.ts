/// How two settings differ, and what a comparison shows: words for values, since the engine decides.

import type { Comparison } from "./engine/types";
import { digits, period } from "./format";
import { PLACES } from "./question";
import type { Settings } from "./share";

/** Words for verdicts. */
const VERDICTS: Record<string, string> = {
    better: "B is better", worse: "B is worse", differs: "differs; neither is better",
    "no-difference-shown": "no difference shown", "not-comparable": "not comparable",
};

/** Names of settings, with the words for their values. */
const NAMES: { [K in keyof Settings]: [string, (value: Settings[K]) => string] } = {
    room: ["Place", (it) => PLACES[it]?.words ?? it],
    devices: ["Devices", String],
    every: ["A message every", period],
    payload: ["Bytes of a message", (it) => `${it} B`],
    profile: ["Chip", (it) => it.toUpperCase().replace("ESP32", "ESP32-").replace(/-$/, "")],
    battery: ["Power", (it) => it || "mains"],
    rate: ["PHY rate", (it) => it || "1M"],
    cast: ["Sent", (it) => (it === "unicast" ? "to the gateway" : "to all")],
    sleep: ["Sleep", (it) => it || "as usual"],
    walls: ["Walls between", String],
    encrypt: ["Encrypted", (it) => (it ? "yes" : "no")],
    seed: ["Seed", String],
};

/** A setting that A and B have otherwise. */
export interface Difference {
    key: keyof Settings;
    name: string;
    a: string;
    b: string;
}

/** Returns the settings that differ, in the order of the form. */
export function differences(a: Settings, b: Settings): Difference[] {
    const one = <K extends keyof Settings>(key: K): Difference[] => {
        const [name, words] = NAMES[key];
        return a[key] === b[key] ? [] : [{ key, name, a: words(a[key]), b: words(b[key]) }];
    };
    return (Object.keys(NAMES) as (keyof Settings)[]).flatMap((key) => one(key));
}

/** Tells in a sentence how B differs from A. */
export function told(all: Difference[]): string {
    if (all.length === 0) return "A and B are the same settings.";
    return `B differs from A: ${all.map((it) => `${it.name} ${it.b} (A: ${it.a})`).join("; ")}.`;
}

/** Returns the verdict on a pair: its word for styles, and the words for people. */
export function verdict(it: Comparison): { word: string; words: string } {
    return { word: it.verdict, words: VERDICTS[it.verdict] ?? it.verdict };
}

/** Returns how B differs from A: by a factor, or of shares by their difference. */
export function change(it: Comparison): string {
    const said = (value: number | null, low: number | null, high: number | null, unit: string): string | undefined => {
        if (value === null) return undefined;
        const ends = low === null || high === null ? "" : ` [${digits(low, 3)} to ${digits(high, 3)}]`;
        return `${digits(value, 3)}${ends} ${unit}`;
    };
    const away = it.ours.unit === "percent" ? "points away" : `${it.ours.unit} away`;
    return said(it.ratio, it.ratio_low, it.ratio_high, "times A") ?? said(it.difference, it.difference_low, it.difference_high, away) ?? "–";
}
