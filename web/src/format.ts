/// Figures in words: as many digits as the interval bears.

import type { Value } from "./engine/types";

/** Returns a number with so many significant digits, without an exponent. */
export function digits(value: number, significant: number): string {
    if (value === 0) return "0";
    const places = Math.max(0, significant - 1 - Math.floor(Math.log10(Math.abs(value))));
    return value.toFixed(Math.min(places, 6));
}

/** Returns the number of significant digits that an interval bears: its ends differ in the last one or two. */
export function borne(value: Value): number {
    if (value.ci_low === null || value.ci_high === null || value.value === 0) return 2;
    const width = Math.abs(value.ci_high - value.ci_low);
    if (width === 0) return 3;
    const digits = Math.ceil(Math.log10(Math.abs(value.value) / width)) + 1;
    // More than three are read as noise, however narrow the interval is.
    return Math.min(3, Math.max(2, digits));
}

/** A figure in parts: the value, its unit, and its interval. */
export interface Shown {
    value: string;
    unit: string;
    interval: string;
}

function shown(value: Value | null | undefined, factor: number, unit: string): Shown {
    if (!value) return { value: "–", unit: "", interval: "not known" };
    const scaled = { value: value.value * factor, ci_low: value.ci_low === null ? null : value.ci_low * factor, ci_high: value.ci_high === null ? null : value.ci_high * factor };
    const count = borne(scaled);
    const end = (it: number | null): string => (it === null ? "?" : digits(it, count));
    const interval = scaled.ci_low === null && scaled.ci_high === null ? "no interval yet" : `${end(scaled.ci_low)} to ${end(scaled.ci_high)}`;
    return { value: digits(scaled.value, count), unit, interval };
}

/** Returns a share in percent. */
export const percent = (value: Value | null | undefined): Shown => shown(value, 1, "%");

/** Returns a time that is given in milliseconds. */
export function time(value: Value | null | undefined): Shown {
    const ms = value?.value ?? 0;
    if (ms >= 60_000) return shown(value, 1 / 60_000, "min");
    if (ms >= 1000) return shown(value, 1e-3, "s");
    return ms > 0 && ms < 1 ? shown(value, 1e3, "µs") : shown(value, 1, "ms");
}

/** Returns a life that is given in days. */
export function life(value: Value | null | undefined): Shown {
    const days = value?.value ?? 0;
    if (days >= 730) return shown(value, 1 / 365.25, "years");
    if (days >= 90) return shown(value, 12 / 365.25, "months");
    return days > 0 && days < 2 ? shown(value, 24, "hours") : shown(value, 1, "days");
}

/** Returns a figure in one line. */
export const line = (it: Shown): string => `${it.value} ${it.unit} [${it.interval}]`.replace(" [not known]", "");

/** Returns a time between messages in words: `2 s`. */
export function period(ms: number): string {
    if (ms >= 3_600_000 && ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
    if (ms >= 60_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
    if (ms >= 1000 && ms % 1000 === 0) return `${ms / 1000} s`;
    return `${ms} ms`;
}

/** Returns a time between messages as the command takes it: `2s`. */
export const every = (ms: number): string => period(ms).replace(" ", "");

/** Returns a word of a shell, quoted where it must be. */
export const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
