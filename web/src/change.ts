/// Changes that the engine has tried, in the page's own words: a setting of a form where it has one.

import { every } from "./format";
import { RATES, type Settings, SLEEPS } from "./share";

/** A change as the engine names it: a flag of the command, and its value. */
export interface Tried {
    flag: string;
    to: string;
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/** Returns a duration of the command in milliseconds. */
function milliseconds(text: string): number | undefined {
    const found = /^(\d+(?:\.\d+)?)(ms|s|min|h)$/.exec(text);
    const ms = found ? Number(found[1]) * (UNITS[found[2] ?? ""] ?? Number.NaN) : Number.NaN;
    return Number.isInteger(ms) && ms > 0 ? ms : undefined;
}

/** Returns the setting of the form that a change is; none where the form has no such one. */
export function setting({ flag, to }: Tried): Partial<Settings> | undefined {
    const ms = milliseconds(to);
    if (flag === "--phy-rate" && RATES.some((it) => it === to)) return { rate: to };
    if (flag === "--every" && ms !== undefined) return { every: ms };
    if (flag === "--sleep" && SLEEPS.some((it) => it === to)) return { sleep: to };
    return undefined;
}

/** Returns a change in words. */
export function words({ flag, to }: Tried): string {
    const ms = milliseconds(to);
    switch (flag) {
        case "--phy-rate": return `PHY rate ${to}`;
        case "--every": return `a message every ${ms === undefined ? to : every(ms).replace(/([a-z]+)/, " $1")}`;
        case "--sleep": return `${to} sleep`;
        case "--attempts": return `up to ${to} attempts`;
        case "--boot": return `a ${to} boot`;
        default: return to;
    }
}
