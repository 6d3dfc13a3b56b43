/// The plan of a room on a canvas: what stands where, and frames that fly.

import { colours } from "../colour";
import type { DrawnRoom, Station } from "../engine/types";
import type { AirView } from "./air";
import type { Item, RoomModel } from "./model";

/** Metres on the plan. */
export type Place = [number, number];

/** Half of the plan's least width, in metres. */
const LEAST = 6;

/** Radius within which a thing is hit, in pixels. */
const NEAR = 18;

interface Colours {
    [name: string]: string;
}

/** Draws a room; y is away, so it goes up. */
export class PlanView {
    private scale = 40;
    private middle: Place = [0, 0];
    private colours: Colours = {};
    room: DrawnRoom | undefined;
    selected: Item | undefined;
    /** A wall that is being drawn. */
    stroke: [Place, Place] | undefined;
    air: AirView | undefined;

    constructor(readonly canvas: HTMLCanvasElement, private model: () => RoomModel | undefined) {
        this.restyle();
    }

    /** Reads the colours of the page's theme. */
    restyle(): void {
        this.colours = colours(["bg", "ink", "faint", "line", "s0", "data", "control", "management", "background", "collided", "weak", "lost", "limit", "grid", "panel"]);
    }

    /** Fits the canvas and the room into its box. */
    fit(): void {
        const { clientWidth, clientHeight } = this.canvas;
        const ratio = Math.min(window.devicePixelRatio || 1, 2);
        this.canvas.width = Math.max(1, Math.round(clientWidth * ratio));
        this.canvas.height = Math.max(1, Math.round(clientHeight * ratio));
        const places: Place[] = [
            ...(this.room?.stations.filter((it) => it.kind !== "other").map((it): Place => [it.x, it.y]) ?? []),
            ...(this.room?.walls.flatMap((it) => [it.from, it.to]) ?? []),
        ];
        if (places.length === 0) places.push([-LEAST, -LEAST], [LEAST, LEAST]);
        const range = (of: 0 | 1): [number, number] => {
            let [low, high] = [Infinity, -Infinity];
            for (const it of places) [low, high] = [Math.min(low, it[of]), Math.max(high, it[of])];
            return [low, high];
        };
        const [[left, right], [near, far]] = [range(0), range(1)];
        this.middle = [(left + right) / 2, (near + far) / 2];
        const wide = Math.max(right - left + 3, LEAST);
        const deep = Math.max(far - near + 3, LEAST);
        this.scale = Math.max(0.01, Math.min(clientWidth / wide, clientHeight / deep));
        this.draw();
    }

    /** Returns where a place is on the canvas, in CSS pixels. */
    to(place: Place): Place {
        return [this.canvas.clientWidth / 2 + (place[0] - this.middle[0]) * this.scale, this.canvas.clientHeight / 2 - (place[1] - this.middle[1]) * this.scale];
    }

    /** Returns the place under a point of the canvas, on half a decimetre. */
    from(x: number, y: number): Place {
        const place: Place = [this.middle[0] + (x - this.canvas.clientWidth / 2) / this.scale, this.middle[1] - (y - this.canvas.clientHeight / 2) / this.scale];
        return [Math.round(place[0] * 20) / 20, Math.round(place[1] * 20) / 20];
    }

    /** Returns the thing under a point, and which end of a wall. */
    hit(x: number, y: number): { item: Item; end?: 0 | 1 } | undefined {
        const model = this.model();
        if (!model) return undefined;
        const away = (place: Place): number => Math.hypot(this.to(place)[0] - x, this.to(place)[1] - y);
        let best: { item: Item; end?: 0 | 1; away: number } | undefined;
        for (const item of model.items()) {
            const at = model.at(item, this.room);
            for (const [end, place] of at.entries()) {
                const it = away(place);
                if (it < NEAR && (!best || it < best.away)) best = { item, away: it, ...(item.kind === "wall" ? { end: end as 0 | 1 } : {}) };
            }
            const [a, b] = at;
            if (!best && a && b) {
                const [p, q] = [this.to(a), this.to(b)];
                const along = ((x - p[0]) * (q[0] - p[0]) + (y - p[1]) * (q[1] - p[1])) / Math.max(1, (q[0] - p[0]) ** 2 + (q[1] - p[1]) ** 2);
                const t = Math.min(1, Math.max(0, along));
                if (Math.hypot(p[0] + t * (q[0] - p[0]) - x, p[1] + t * (q[1] - p[1]) - y) < NEAR / 2) best = { item, away: NEAR };
            }
        }
        return best;
    }

    /** Draws everything. */
    draw(): void {
        const context = this.canvas.getContext("2d");
        if (!context) return;
        const ratio = this.canvas.width / Math.max(1, this.canvas.clientWidth);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
        this.grid(context);
        this.walls(context);
        this.air?.draw(context, this.colours, (it) => this.to(it));
        for (const it of this.room?.stations ?? []) this.station(context, it);
        this.labels(context);
    }

    private grid(context: CanvasRenderingContext2D): void {
        const { clientWidth, clientHeight } = this.canvas;
        const steps = [1, 2, 5, 10, 20, 50, 100, 500, 1000, 5000];
        const step = steps.find((it) => it * this.scale >= 34) ?? 10_000;
        context.lineWidth = 1;
        context.strokeStyle = this.colours.grid ?? "";
        context.beginPath();
        const [left, top] = this.from(0, 0);
        for (let x = Math.ceil(left / step) * step; this.to([x, 0])[0] < clientWidth; x += step) {
            const at = Math.round(this.to([x, 0])[0]) + 0.5;
            context.moveTo(at, 0);
            context.lineTo(at, clientHeight);
        }
        for (let y = Math.floor(top / step) * step; this.to([0, y])[1] < clientHeight; y -= step) {
            const at = Math.round(this.to([0, y])[1]) + 0.5;
            context.moveTo(0, at);
            context.lineTo(clientWidth, at);
        }
        context.stroke();
        const long = step * this.scale;
        context.strokeStyle = this.colours.faint ?? "";
        context.fillStyle = this.colours.faint ?? "";
        context.beginPath();
        context.moveTo(14, clientHeight - 14);
        context.lineTo(14 + long, clientHeight - 14);
        context.stroke();
        context.font = "12px system-ui, sans-serif";
        context.textAlign = "left";
        context.fillText(`${step} m`, 14, clientHeight - 20);
    }

    private walls(context: CanvasRenderingContext2D): void {
        context.lineCap = "round";
        const line = (from: Place, to: Place, width: number, colour: string): void => {
            context.lineWidth = width;
            context.strokeStyle = colour;
            context.beginPath();
            context.moveTo(...this.to(from));
            context.lineTo(...this.to(to));
            context.stroke();
        };
        for (const [index, it] of (this.room?.walls ?? []).entries()) {
            const chosen = this.selected?.kind === "wall" && this.selected.index === index;
            line(it.from, it.to, 3 + Math.min(6, it.loss_db / 2), (chosen ? this.colours.s0 : this.colours.ink) ?? "");
        }
        if (this.stroke) line(...this.stroke, 4, this.colours.s0 ?? "");
    }

    private station(context: CanvasRenderingContext2D, it: Station): void {
        const [x, y] = this.to([it.x, it.y]);
        const model = this.model();
        const chosen = this.selected && this.selected.kind !== "wall" && model?.name(this.selected) === it.group;
        const listener = it.kind === "device" && it === this.room?.stations[0];
        context.lineWidth = 2;
        context.strokeStyle = this.colours.bg ?? "";
        context.fillStyle = (it.kind === "device" ? (listener ? this.colours.ink : this.colours.s0) : it.kind === "router" ? this.colours.management : it.kind === "noise" ? this.colours.collided : this.colours.background) ?? "";
        context.beginPath();
        if (it.kind === "router") {
            context.roundRect(x - 9, y - 6, 18, 12, 3);
        } else if (it.kind === "noise") {
            context.moveTo(x, y - 9);
            context.lineTo(x + 9, y + 7);
            context.lineTo(x - 9, y + 7);
            context.closePath();
        } else {
            context.arc(x, y, it.kind === "other" ? 3.5 : listener ? 9 : 7, 0, 2 * Math.PI);
        }
        context.fill();
        context.stroke();
        if (chosen) {
            context.strokeStyle = this.colours.s0 ?? "";
            context.beginPath();
            context.arc(x, y, 14, 0, 2 * Math.PI);
            context.stroke();
        }
    }

    private labels(context: CanvasRenderingContext2D): void {
        const model = this.model();
        if (!model) return;
        context.font = "13px system-ui, sans-serif";
        context.textAlign = "center";
        context.lineWidth = 3;
        context.strokeStyle = this.colours.bg ?? "";
        context.fillStyle = this.colours.ink ?? "";
        const items = model.items().filter((it) => it.kind !== "wall");
        if (items.length > 60) return;
        for (const item of items) {
            const [at] = model.at(item, this.room);
            if (!at) continue;
            const [x, y] = this.to(at);
            const count = model.count(item);
            const text = `${model.name(item)}${count > 1 ? ` × ${count}` : ""}`.slice(0, 40);
            context.strokeText(text, x, y + 26);
            context.fillText(text, x, y + 26);
        }
    }
}
