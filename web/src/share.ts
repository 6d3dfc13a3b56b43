/// What the page shows, as a fragment of its address: nothing of it reaches a server. A fragment comes from
/// anybody, so it is bounded, and each value of it is checked.

/** Tasks of the page. */
export const TASKS = ["room", "predict", "compare", "doctor", "board"] as const;

/** A task of the page. */
export type Task = (typeof TASKS)[number];

/** Longest fragment, and longest text that it may unpack to, in characters. */
export const LONGEST_FRAGMENT = 64 * 1024;
export const LONGEST_TEXT = 256 * 1024;

/** Settings of the messages, as sliders have them. */
export interface Settings {
    room: string;
    devices: number;
    every: number;
    payload: number;
    rate: string;
    profile: string;
    cast: "unicast" | "broadcast";
    encrypt: boolean;
    battery: string;
    sleep: string;
    walls: number;
    seed: number;
}

/** Settings at the start. */
export const USUAL: Settings = {
    room: "office", devices: 20, every: 1000, payload: 50, rate: "", profile: "esp32", cast: "unicast",
    encrypt: false, battery: "", sleep: "", walls: 0, seed: 0,
};

/** Periods that the slider has, in ms. */
export const PERIODS = [20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000] as const;
export const ROOMS = ["office", "home", "hall", "open", "bench"] as const;
export const RATES = ["", "1M", "2M", "5.5M", "11M", "6M", "12M", "24M", "54M", "HT20-MCS0", "HT20-MCS7", "LR-250K", "LR-500K"] as const;
export const SLEEPS = ["", "deep", "light", "modem", "none"] as const;

/** A link that cannot be read, with the words for it. */
export class LinkError extends Error {
    constructor(readonly why: string, readonly remedy = "ask for the link again: it may have been cut when it was copied") {
        super(why);
    }
}

/** What is shown. */
export interface Shared {
    task: Task;
    /** Text of the lab that was drawn. */
    lab?: string;
    settings?: Settings;
    other?: Settings;
}

/** What a link shows, and what of it could not be taken as it stands there. */
export interface Linked {
    shared: Shared;
    /** Sentences for people: a value that is none, a task that there is not. */
    corrected: string[];
}

const text = (value: unknown, most: number): string | undefined => (typeof value === "string" && value.length <= most ? value : undefined);

function whole(value: unknown, least: number, most: number, usual: number): number {
    return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most ? value : usual;
}

function one<T extends string>(value: unknown, of: readonly T[], usual: T): T {
    return of.find((it) => it === value) ?? usual;
}

/** Checks settings from outside; what is none is as usual, and told. */
export function settingsOf(value: unknown, corrected: string[] = []): Settings {
    const it = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
    const checked = settingsFrom(it);
    for (const [name, taken] of Object.entries(checked)) {
        if (it[name] === undefined || it[name] === taken) continue;
        // What came from outside is cut: it may be long.
        const given = String(typeof it[name] === "object" ? "something else" : it[name]).slice(0, 40);
        corrected.push(`${name} cannot be ${given}: it is ${taken === "" ? "as usual" : String(taken)} here`);
    }
    return checked;
}

function settingsFrom(it: Record<string, unknown>): Settings {
    const word = (name: string, usual: string): string => {
        const given = text(it[name], 40);
        return given !== undefined && /^[\w. -]*$/.test(given) ? given : usual;
    };
    return {
        room: one(it.room, ROOMS, "office"),
        devices: whole(it.devices, 1, 2000, USUAL.devices),
        every: whole(it.every, 1, 86_400_000, USUAL.every),
        payload: whole(it.payload, 1, 1490, USUAL.payload),
        rate: one(it.rate, RATES, ""),
        profile: word("profile", USUAL.profile),
        cast: one(it.cast, ["unicast", "broadcast"] as const, "unicast"),
        encrypt: it.encrypt === true,
        battery: word("battery", ""),
        sleep: one(it.sleep, SLEEPS, ""),
        walls: whole(it.walls, 0, 20, 0),
        seed: whole(it.seed, 0, 2 ** 31, 0),
    };
}

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream, most: number): Promise<Uint8Array> {
    const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, BufferSource>).getReader();
    const parts: Uint8Array[] = [];
    let length = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        length += value.length;
        if (length > most) {
            await reader.cancel();
            throw new LinkError("it unpacks to more than a page needs", "save the room as a file, and open that");
        }
        parts.push(value);
    }
    const all = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}

/** Writes a fragment. */
export async function fragment(shared: Shared): Promise<string> {
    const { task, ...rest } = shared;
    if (Object.values(rest).every((it) => it === undefined)) return task;
    const bytes = await through(new TextEncoder().encode(JSON.stringify(rest)), new CompressionStream("deflate-raw"), LONGEST_TEXT);
    const packed = btoa(Array.from(bytes, (it) => String.fromCharCode(it)).join(""));
    return `${task}=${packed.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Reads a fragment. Rejects with a [LinkError] where it holds something that is none. */
export async function read(hash: string): Promise<Linked> {
    const [word = "", packed] = hash.replace(/^#/, "").split("=", 2);
    const task = one(word, TASKS, "room");
    const corrected: string[] = [];
    if (word !== "" && word !== task) corrected.push(`there is no task ${word.slice(0, 40)}: this is the room`);
    if (packed === undefined || packed === "") return { shared: { task }, corrected };
    if (hash.length > LONGEST_FRAGMENT) throw new LinkError("it is longer than a link of this page", "save the room as a file, and open that");
    const value = await unpacked(packed);
    const shared: Shared = { task };
    const lab = text(value?.lab, LONGEST_TEXT);
    if (lab !== undefined) shared.lab = lab;
    if (value?.settings) shared.settings = settingsOf(value.settings, corrected);
    if (value?.other) shared.other = settingsOf(value.other, corrected);
    return { shared, corrected };
}

async function unpacked(packed: string): Promise<Record<string, unknown> | null> {
    try {
        const raw = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
        const bytes = await through(Uint8Array.from(raw, (it) => it.charCodeAt(0)), new DecompressionStream("deflate-raw"), LONGEST_TEXT);
        return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Record<string, unknown> | null;
    } catch (why) {
        if (why instanceof LinkError) throw why;
        // What a browser says of it is for programmers.
        throw new LinkError("a part of it is missing, or was changed");
    }
}
