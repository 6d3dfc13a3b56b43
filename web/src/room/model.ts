/// A room as its TOML: read, changed by hand, and written again. What the drawing does not know stays.

import { parse, stringify } from "smol-toml";
import type { DrawnRoom } from "../engine/types";

/** Kinds of things that one draws. */
export const KINDS = ["group", "router", "wall", "interferer"] as const;
export type Kind = (typeof KINDS)[number];

/** A thing of the room: its kind, and its place among those of its kind. */
export interface Item {
    kind: Kind;
    index: number;
}

type Table = Record<string, unknown>;

/** Longest text of a lab that is read, as the engine has it. */
export const LONGEST_LAB = 256 * 1024;

/** Metres between things that are put on one place. */
const APART = 1;

/** Changes that can be taken back. */
const PAST = 100;

/** Texts of a room before and after changes by hand. */
export class Past {
    private readonly before: string[] = [];
    private after: string[] = [];

    /** Keeps a text before it is changed. */
    keep(text: string): void {
        if (this.before.at(-1) !== text) this.before.push(text);
        if (this.before.length > PAST) this.before.shift();
        this.after = [];
    }

    /** Returns the text before the last change, or after it; `undefined` where there is none. */
    step(now: string, again: boolean): string | undefined {
        const [from, to] = again ? [this.after, this.before] : [this.before, this.after];
        let text = from.pop();
        // A change that was refused has left the text as it was.
        while (text === now) text = from.pop();
        if (text !== undefined) to.push(now);
        return text;
    }
}

/** Most things of a kind that may be drawn by hand. */
const MOST = 500;

/** The room at the start: two rooms, a gateway, sensors, a router. */
export const FIRST_ROOM = `title = "A flat with two rooms"
environment = "free-space"

[[group]]
name = "gateway"
profile = "esp32"
at = [0, 0, 1.2]

[[group]]
name = "window"
profile = "esp32c3"
at = [-4, 2.5, 1]

[[group]]
name = "door"
profile = "esp32c3"
at = [-3.5, -2.5, 1]

[[group]]
name = "heater"
profile = "esp32c3"
at = [5, 2.5, 1]

[[group]]
name = "plants"
profile = "esp32c3"
at = [6.5, -2, 1]

[[router]]
name = "router"
ssid = "home"
password = "secret-enough"
at = [1, 3, 2]
channel = 1

[[wall]]
from = [2.5, -4, 0]
to = [2.5, 1.5, 2.5]
material = "brick"
`;

const tables = (value: unknown): Table[] => (Array.isArray(value) ? value.filter((it): it is Table => typeof it === "object" && it !== null) : []);
const number = (value: unknown): number => (typeof value === "number" ? value : typeof value === "bigint" ? Number(value) : Number.NaN);
const round = (value: number): number => Math.round(value * 100) / 100;

function point(value: unknown): [number, number, number] | undefined {
    if (!Array.isArray(value)) return undefined;
    const [x, y, z] = value.map(number);
    return x === undefined || y === undefined || Number.isNaN(x) || Number.isNaN(y) ? undefined : [x, y, z === undefined || Number.isNaN(z) ? 0 : z];
}

/** A room that is being drawn. */
export class RoomModel {
    private table: Table = {};

    /** Reads a text; throws what is wrong with it as TOML. */
    constructor(public text: string) {
        if (text.length > LONGEST_LAB) throw new RangeError("the room is too long");
        this.table = parse(text) as Table;
    }

    private list(kind: Kind): Table[] {
        return tables(this.table[kind]);
    }

    private write(): void {
        this.text = `${stringify(this.table)}\n`;
    }

    /** Returns all things of the room. */
    items(): Item[] {
        return KINDS.flatMap((kind) => this.list(kind).map((_, index) => ({ kind, index })));
    }

    /** Returns a thing's name for people. */
    name(item: Item): string {
        const it = this.list(item.kind)[item.index];
        if (!it) return "";
        if (item.kind === "wall") return `wall ${item.index + 1}${typeof it.material === "string" ? `, ${it.material}` : ""}`;
        return typeof it.name === "string" ? it.name : `${item.kind} ${item.index + 1}`;
    }

    /** Returns how many devices a group has. */
    count(item: Item): number {
        const count = number(this.list(item.kind)[item.index]?.count);
        return Number.isNaN(count) ? 1 : count;
    }

    /** Returns where a thing is: the middle of a group, both ends of a wall. */
    at(item: Item, drawn?: DrawnRoom): [number, number][] {
        const it = this.list(item.kind)[item.index];
        if (!it) return [];
        if (item.kind === "wall") return [point(it.from), point(it.to)].flatMap((end) => (end ? [[end[0], end[1]] as [number, number]] : []));
        const at = point(it.at);
        if (at) return [[at[0], at[1]]];
        const members = drawn?.stations.filter((station) => station.group === it.name) ?? [];
        if (members.length === 0) return [];
        const mean = (of: (it: { x: number; y: number }) => number): number => members.reduce((sum, member) => sum + of(member), 0) / members.length;
        return [[mean((member) => member.x), mean((member) => member.y)]];
    }

    /** Moves a thing; of a wall, one end or all of it. */
    move(item: Item, x: number, y: number, end?: 0 | 1): void {
        const it = this.list(item.kind)[item.index];
        if (!it || !Number.isFinite(x) || !Number.isFinite(y)) return;
        if (item.kind === "wall") {
            const ends = ["from", "to"] as const;
            const [from, to] = [point(it.from), point(it.to)];
            if (!from || !to) return;
            const by = end === undefined ? [x - (from[0] + to[0]) / 2, y - (from[1] + to[1]) / 2] : undefined;
            for (const at of [0, 1] as const) {
                const old = at === 0 ? from : to;
                if (by) it[ends[at]] = [round(old[0] + by[0]!), round(old[1] + by[1]!), old[2]];
                else if (end === at) it[ends[at]] = [round(x), round(y), old[2]];
            }
        } else {
            const height = point(it.at)?.[2] ?? 1;
            it.at = [round(x), round(y), height];
            delete it.distance_m;
        }
        this.write();
    }

    private free(kind: Kind, word: string): string {
        const names = new Set(this.list(kind).map((it) => it.name));
        for (let at = 1; ; at++) if (!names.has(`${word}-${at}`)) return `${word}-${at}`;
    }

    /** Returns the nearest place to the right where nothing stands yet: things on one another cannot be told apart. */
    private beside(x: number, y: number): [number, number] {
        const there = this.items().filter((it) => it.kind !== "wall").flatMap((it) => this.at(it));
        let free = x;
        while (there.some((it) => Math.hypot(it[0] - free, it[1] - y) < APART / 2)) free += APART;
        return [round(free), round(y)];
    }

    /** Adds a thing, and returns it; `undefined` where there are too many. */
    add(kind: Kind, x: number, y: number, to?: [number, number]): Item | undefined {
        const list = this.list(kind);
        if (list.length >= MOST) return undefined;
        const at = kind === "wall" ? [round(x), round(y)] : this.beside(x, y);
        if (kind === "wall") {
            const [endX, endY] = to ?? [x, y + 3];
            list.push({ from: [...at, 0], to: [round(endX), round(endY), 2.5], material: "brick" });
        } else if (kind === "router") {
            const name = this.free(kind, "router");
            list.push({ name, ssid: name, password: "secret-enough", at: [...at, 2], channel: 6 });
        } else if (kind === "interferer") {
            list.push({ name: this.free(kind, "oven"), at: [...at, 1] });
        } else {
            list.push({ name: this.free(kind, "sensor"), profile: "esp32c3", at: [...at, 1] });
        }
        this.table[kind] = list;
        this.write();
        return { kind, index: list.length - 1 };
    }

    /** Removes a thing. The first group has the listener and stays. */
    remove(item: Item): boolean {
        if (item.kind === "group" && item.index === 0) return false;
        const list = this.list(item.kind);
        list.splice(item.index, 1);
        if (list.length === 0) delete this.table[item.kind];
        else this.table[item.kind] = list;
        this.write();
        return true;
    }

    /** Gives a thing another name, and those that refer to it; returns why it cannot have it. */
    rename(item: Item, name: string): string | undefined {
        const it = this.list(item.kind)[item.index];
        if (!it || name === "") return "A name has a character at least.";
        const isItself = (other: Item): boolean => other.kind === item.kind && other.index === item.index;
        if (this.items().some((other) => other.kind !== "wall" && !isItself(other) && this.name(other) === name)) return "Another thing has that name.";
        if (item.kind === "group" && this.table["initiator"] === it.name) this.table["initiator"] = name;
        it.name = name;
        this.write();
        return undefined;
    }

    /** Returns a property of a thing as text. */
    get(item: Item | undefined, key: string): string {
        const value = item ? this.list(item.kind)[item.index]?.[key] : this.table[key];
        return typeof value === "string" || typeof value === "number" || typeof value === "bigint" ? String(value) : "";
    }

    /** Sets a property of a thing, or of the room. */
    set(item: Item | undefined, key: string, value: string | number): void {
        const it = item ? this.list(item.kind)[item.index] : this.table;
        if (!it) return;
        it[key] = value;
        this.write();
    }
}
