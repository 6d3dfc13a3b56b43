/// Changes that the engine has tried, in the page's own words: a setting of a form where it has one.

import { period } from "./format";
import { RATES, type Settings, SLEEPS } from "./share";

/** A change as the engine names it: a flag of the command, and its value. */
export interface Tried {
    flag: string;
    to: string;
    /** The value in milliseconds, where it is a time. */
    to_ms?: number;
}

/** Returns the setting of the form that a change is; none where the form has no such one. */
export function setting({ flag, to, to_ms }: Tried): Partial<Settings> | undefined {
    if (flag === "--phy-rate" && RATES.some((it) => it === to)) return { rate: to };
    if (flag === "--every" && to_ms !== undefined) return { every: to_ms };
    if (flag === "--sleep" && SLEEPS.some((it) => it === to)) return { sleep: to };
    return undefined;
}

/** Returns a change in words. */
export function words({ flag, to, to_ms }: Tried): string {
    switch (flag) {
        case "--phy-rate": return `PHY rate ${to}`;
        case "--every": return `a message every ${to_ms === undefined ? to : period(to_ms)}`;
        case "--sleep": return `${to} sleep`;
        case "--attempts": return `up to ${to} attempts`;
        case "--boot": return `a ${to} boot`;
        default: return to;
    }
}
