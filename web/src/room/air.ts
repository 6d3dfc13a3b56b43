/// Frames over the plan: time goes slowly while somebody sends, and fast while nobody does.

import type { DrawnFlights, Flight } from "../engine/types";
import type { Place } from "./plan";

/** Time of the film for a frame on the air, in ms, whatever its length. */
const FRAME_MS = 420;

/** Film time between two frames, in ms, at the most and at the least. */
const GAP_MS = [60, 700] as const;

/** A frame with its part of the film. */
interface Shot {
    flight: Flight;
    begin: number;
    end: number;
}

/** Fates that are told apart. */
export const FATES = [
    ["data", "read"],
    ["control", "acknowledgement"],
    ["management", "beacon"],
    ["background", "other people’s"],
    ["collided", "collided"],
    ["weak", "too weak"],
] as const;

function fate([, , , , kind, read, collided, noise]: Flight): string {
    if (kind === 0 && read === 0 && collided > 0) return "collided";
    if (kind === 0 && read === 0 && noise > 0) return "weak";
    return FATES[kind]?.[0] ?? "background";
}

/** Makes the film: virtual time with its pauses cut short. */
export function film(flights: Flight[]): Shot[] {
    const shots: Shot[] = [];
    const sorted = [...flights].sort((a, b) => a[0] - b[0]);
    let [at, until] = [0, 0];
    for (const flight of sorted) {
        const last = shots.at(-1);
        const [begin, end] = [flight[0], flight[1]];
        if (!last) at = 0;
        else if (begin < until) at = last.begin + Math.min(FRAME_MS * 0.8, (FRAME_MS * (begin - last.flight[0])) / Math.max(1, until - last.flight[0]));
        else at = Math.max(at, last.end) + Math.min(GAP_MS[1], Math.max(GAP_MS[0], (begin - until) / 400));
        shots.push({ flight, begin: at, end: at + FRAME_MS });
        until = Math.max(until, end);
    }
    return shots;
}

/** Shows the frames of a room. */
export class AirView {
    private readonly shots: Shot[];
    private readonly places: Place[];
    /** Time of the film. */
    private now = 0;
    private first = 0;
    private last = 0;
    private frame = 0;
    private readonly colours: string[];

    constructor(readonly seen: DrawnFlights, private readonly redraw: () => void, private readonly tick: (us: number, done: boolean) => void) {
        this.shots = film(seen.flights);
        this.places = seen.stations.map((it): Place => [it.x, it.y]);
        this.colours = this.shots.map((it) => fate(it.flight));
    }

    /** Returns whether it runs. */
    get runs(): boolean {
        return this.frame !== 0;
    }

    /** Starts, or goes on; from the beginning once it has ended. */
    play(): void {
        if (this.first >= this.shots.length) this.rewind();
        this.last = performance.now();
        const step = (at: number): void => {
            this.now += Math.min(100, at - this.last);
            this.last = at;
            while (this.first < this.shots.length && (this.shots[this.first]?.end ?? 0) < this.now) this.first++;
            const done = this.first >= this.shots.length;
            this.frame = done ? 0 : requestAnimationFrame(step);
            this.redraw();
            this.tick(this.shots[Math.min(this.first, this.shots.length - 1)]?.flight[0] ?? 0, done);
        };
        if (!this.frame) this.frame = requestAnimationFrame(step);
    }

    /** Pauses. */
    pause(): void {
        cancelAnimationFrame(this.frame);
        this.frame = 0;
    }

    /** Goes back to the beginning. */
    rewind(): void {
        this.now = 0;
        this.first = 0;
    }

    /** Draws the frames that are on the air now. */
    draw(context: CanvasRenderingContext2D, colours: Record<string, string>, to: (place: Place) => Place): void {
        for (let at = this.first; at < this.shots.length; at++) {
            const shot = this.shots[at]!;
            if (shot.begin > this.now) break;
            if (shot.end < this.now) continue;
            const [, , from, addressee, kind] = shot.flight;
            const [here, there] = [this.places[from], addressee < 0 ? undefined : this.places[addressee]];
            if (!here) continue;
            const part = (this.now - shot.begin) / (shot.end - shot.begin);
            const colour = colours[this.colours[at]!] ?? "";
            const [x, y] = to(here);
            context.globalAlpha = 1 - part;
            context.strokeStyle = colour;
            context.lineWidth = kind === 0 ? 3 : 1.5;
            context.beginPath();
            context.arc(x, y, 10 + part * (kind === 0 ? 110 : 60), 0, 2 * Math.PI);
            context.stroke();
            context.globalAlpha = 1;
            if (there) {
                const [endX, endY] = to(there);
                const [atX, atY] = [x + (endX - x) * part, y + (endY - y) * part];
                context.globalAlpha = 0.35;
                context.beginPath();
                context.moveTo(x, y);
                context.lineTo(atX, atY);
                context.stroke();
                context.globalAlpha = 1;
                context.fillStyle = colour;
                context.beginPath();
                context.arc(atX, atY, kind === 0 ? 5 : 3, 0, 2 * Math.PI);
                context.fill();
            }
        }
    }
}
