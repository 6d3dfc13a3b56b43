/// Tools of the plan, by mouse, touch and keys.

import { announce, h } from "../dom";
import type { Item, Kind, RoomModel } from "./model";
import type { Place, PlanView } from "./plan";

/** A tool: moving things, or adding one. */
export type Tool = "move" | Kind;

const TOOLS: [Tool, string, string][] = [["move", "Move", "v"], ["group", "Device", "d"], ["router", "Router", "r"], ["wall", "Wall", "w"], ["interferer", "Oven", "o"]];

/** Metres that an arrow key moves a thing; with Shift. */
const [STEP, LARGE_STEP] = [0.25, 1];

/** What the tools change. */
export interface ToolHost {
    model(): RoomModel | undefined;
    edit(change: () => void): void;
    choose(item: Item | undefined): void;
    undo(again: boolean): void;
}

/** The tools of a plan. */
export class Tools {
    /** Keys, in words. */
    static readonly help = "Keys: D adds a device, R a router, W a wall, O an oven; N and P go from thing to thing, arrows move it, Delete removes it, Ctrl-Z takes the last change back.";

    readonly element: HTMLElement;
    private tool: Tool = "move";
    private readonly buttons = new Map<Tool, HTMLButtonElement>();
    private dragged: { item: Item; end?: 0 | 1; moved: boolean } | undefined;
    private from: Place | undefined;

    constructor(private readonly canvas: HTMLCanvasElement, private readonly plan: PlanView, private readonly host: ToolHost) {
        for (const [tool, words, key] of TOOLS) {
            this.buttons.set(tool, h("button", { type: "button", "aria-pressed": String(tool === this.tool), title: `${words} (${key.toUpperCase()})`, onclick: () => this.pressed(tool) }, words));
        }
        this.element = h("div", { class: "toolbar", role: "toolbar", "aria-label": "Tools" }, ...this.buttons.values(),
            h("button", { type: "button", title: "Remove (Delete)", onclick: () => this.remove() }, "Remove"),
            h("button", { type: "button", title: "Take the last change back (Ctrl-Z)", onclick: () => this.host.undo(false) }, "Undo"),
            h("button", { type: "button", title: "Show all (F)", onclick: () => this.plan.fit() }, "Fit"));
        canvas.addEventListener("pointerdown", (event) => this.down(event));
        canvas.addEventListener("pointermove", (event) => this.move(event));
        canvas.addEventListener("pointerup", (event) => this.up(event));
        canvas.addEventListener("pointercancel", () => this.cancel());
        canvas.addEventListener("keydown", (event) => this.key(event));
    }

    private set(tool: Tool): void {
        this.tool = tool;
        for (const [it, button] of this.buttons) button.setAttribute("aria-pressed", String(it === tool));
        this.canvas.classList.toggle("adds", tool !== "move");
    }

    /** A tool was pressed: with the keyboard on a button there is no place, so the thing comes to the middle. */
    private pressed(tool: Tool): void {
        this.set(tool);
        if (tool !== "move" && this.element.querySelector(":focus-visible")) this.addAt(tool, this.plan.from(this.canvas.clientWidth / 2, this.canvas.clientHeight / 2));
    }

    private addAt(tool: Tool, at: Place): void {
        if (tool === "move") return;
        const model = this.host.model();
        this.host.edit(() => {
            const item = model?.add(tool, at[0], at[1]);
            if (item) {
                this.host.choose(item);
                announce(`${model?.name(item)} added at ${at[0]}, ${at[1]}. Arrow keys on the plan move it.`);
            } else announce("There are too many of these.");
        });
        this.set("move");
    }

    private place(event: PointerEvent): { x: number; y: number; at: Place } {
        const box = this.canvas.getBoundingClientRect();
        const [x, y] = [event.clientX - box.left, event.clientY - box.top];
        return { x, y, at: this.plan.from(x, y) };
    }

    private down(event: PointerEvent): void {
        if (event.button !== 0) return;
        const { x, y, at } = this.place(event);
        this.canvas.setPointerCapture(event.pointerId);
        if (this.tool === "wall") {
            this.from = at;
            return;
        }
        if (this.tool !== "move") return this.addAt(this.tool, at);
        const hit = this.plan.hit(x, y);
        this.host.choose(hit?.item);
        if (hit) this.dragged = { ...hit, moved: false };
    }

    private move(event: PointerEvent): void {
        const { at } = this.place(event);
        if (this.from) {
            this.plan.stroke = [this.from, at];
            this.plan.draw();
        } else if (this.dragged) {
            this.dragged.moved = true;
            const { item, end } = this.dragged;
            const model = this.host.model();
            // The engine draws it anew once it is dropped.
            model?.move(item, at[0], at[1], end);
            this.preview(item, at, end);
        }
    }

    /** Shows a thing where it is dragged. */
    private preview(item: Item, at: Place, end?: 0 | 1): void {
        const { room } = this.plan;
        const model = this.host.model();
        if (!room || !model) return;
        if (item.kind === "wall") {
            const wall = room.walls[item.index];
            const [from, to] = model.at(item);
            if (wall && from && to) [wall.from, wall.to] = [from, to];
        } else {
            const members = room.stations.filter((it) => it.group === model.name(item));
            const [first] = members;
            if (first) for (const it of [...members].reverse()) [it.x, it.y] = [it.x + at[0] - first.x, it.y + at[1] - first.y];
        }
        void end;
        this.plan.draw();
    }

    private up(event: PointerEvent): void {
        const { at } = this.place(event);
        const [from, dragged] = [this.from, this.dragged];
        this.cancel();
        if (from) {
            const is_long = Math.hypot(at[0] - from[0], at[1] - from[1]) > 0.2;
            const model = this.host.model();
            this.host.edit(() => {
                const item = model?.add("wall", from[0], from[1], is_long ? at : undefined);
                if (item) this.host.choose(item);
            });
            this.set("move");
        } else if (dragged?.moved) {
            this.host.edit(() => this.host.model()?.move(dragged.item, at[0], at[1], dragged.end));
        }
    }

    private cancel(): void {
        this.from = undefined;
        this.dragged = undefined;
        this.plan.stroke = undefined;
    }

    /** Removes what is chosen. */
    private remove(): void {
        const { selected } = this.plan;
        const model = this.host.model();
        if (!selected || !model) return announce("Nothing is chosen.");
        const name = model.name(selected);
        this.host.edit(() => {
            if (model.remove(selected)) {
                this.host.choose(undefined);
                announce(`${name} removed.`);
            } else announce("The first device listens: it stays.");
        });
    }

    private step(by: number): void {
        const model = this.host.model();
        const items = model?.items() ?? [];
        const { selected } = this.plan;
        const now = items.findIndex((it) => it.kind === selected?.kind && it.index === selected.index);
        const next = items[(now + by + items.length) % Math.max(1, items.length)];
        if (!next || !model) return;
        this.host.choose(next);
        const [at] = model.at(next, this.plan.room);
        announce(`${model.name(next)}${at ? `, at ${at[0].toFixed(2)}, ${at[1].toFixed(2)}` : ""}`);
    }

    private key(event: KeyboardEvent): void {
        if ((event.ctrlKey || event.metaKey) && !event.altKey && ["z", "y"].includes(event.key.toLowerCase())) {
            this.host.undo(event.shiftKey || event.key.toLowerCase() === "y");
            return event.preventDefault();
        }
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const moves: Record<string, Place> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
        const by = moves[event.key];
        const tool = TOOLS.find((it) => it[2] === event.key.toLowerCase());
        const model = this.host.model();
        const { selected } = this.plan;
        if (by && selected && model) {
            const ends = model.at(selected, this.plan.room);
            const step = event.shiftKey ? LARGE_STEP : STEP;
            const [x, y] = [0, 1].map((of) => ends.reduce((sum, it) => sum + (it[of] ?? 0), 0) / Math.max(1, ends.length)) as Place;
            this.host.edit(() => model.move(selected, x + by[0] * step, y + by[1] * step));
        } else if (event.key === "Delete" || event.key === "Backspace") this.remove();
        else if (event.key === "n" || event.key === "p") this.step(event.key === "n" ? 1 : -1);
        else if (event.key === "f") this.plan.fit();
        else if (event.key === "Escape") {
            this.cancel();
            this.set("move");
            this.host.choose(undefined);
        } else if (tool && tool[0] !== "move") this.addAt(tool[0], this.plan.from(this.canvas.clientWidth / 2, this.canvas.clientHeight / 2));
        else if (tool) this.set("move");
        else return;
        event.preventDefault();
    }
}
