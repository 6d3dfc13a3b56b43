/// Room: draw it, run it while frames fly, see what becomes of the messages.

import { AnswerView, wrong } from "../answer";
import { themed } from "../colour";
import { announce, download, field, h, put, quietly } from "../dom";
import { drawn, stopWatching, watch } from "../engine/client";
import { type DrawnRoom, EngineError, type LibraryList } from "../engine/types";
import type { Flow } from "../flow";
import { FormView } from "../form";
import { command, OWN_ROOM, question } from "../question";
import { AirView, FATES } from "../room/air";
import { FIRST_ROOM, type Item, LONGEST_LAB, Past, RoomModel } from "../room/model";
import { PlanView } from "../room/plan";
import { properties } from "../room/properties";
import { type Tool, Tools } from "../room/tools";
import { type Shared, USUAL } from "../share";

/** Frames that a film shows, at most. */
const FILM_FRAMES = 600;

/** Devices whose messages a page simulates, at most. */
const MOST_DEVICES = 2000;

/** Makes the task. */
export function roomFlow(shared: Shared, library: Promise<LibraryList>, changed: () => void): Flow {
    return new RoomTask(shared, library, changed).flow();
}

class RoomTask {
    private readonly settings;
    private readonly form;
    private model: RoomModel | undefined;
    private room: DrawnRoom | undefined;
    private readonly canvas = h("canvas", { class: "plan", tabindex: "0", role: "application", "aria-roledescription": "plan of the room" });
    private readonly plan = new PlanView(this.canvas, () => this.model);
    private readonly answer = new AnswerView("The room", (change) => this.form.take(change));
    private readonly text = h("textarea", { rows: 16, spellcheck: "false", autocomplete: "off", class: "code" });
    private readonly mistake = h("div", {});
    private readonly list = h("div", { class: "things" });
    private readonly clock = h("p", { class: "clock" });
    private readonly playButton = h("button", { type: "button", disabled: true, onclick: () => this.toggleFilm() }, "Play");
    private readonly runButton = h("button", { type: "button", class: "main", onclick: () => this.run() }, "Run the room");
    private readonly environment = h("select", { onchange: () => this.edit(() => this.model?.set(undefined, "environment", this.environment.value)) });
    private readonly tools = new Tools(this.canvas, this.plan, {
        model: () => this.model,
        edit: (change) => this.edit(change),
        choose: (item) => this.choose(item),
        undo: (again) => this.undo(again),
    });
    private readonly past = new Past();
    private drawing = 0;
    private readonly resized = new ResizeObserver(() => this.plan.fit());
    private unthemed = (): void => undefined;

    constructor(private readonly shared: Shared, private readonly library: Promise<LibraryList>, private readonly changed: () => void) {
        this.settings = shared.settings ??= { ...USUAL, every: 1000 };
        this.form = new FormView(this.settings, { own: true, name: "Messages to the gateway" }, () => this.changed());
        this.text.value = shared.lab ?? FIRST_ROOM;
        this.text.addEventListener("input", quietly(250, () => void this.read(this.text.value, true)));
    }

    flow(): Flow {
        const openFile = h("input", { type: "file", accept: ".toml,text/plain", class: "away", tabindex: -1, "aria-label": "File of a lab", onchange: () => void this.open(openFile.files?.[0]) });
        const toml = h("details", { class: "toml" }, h("summary", {}, "The room as TOML"),
            field("Text of the lab", this.text, "As espbench lab, run and predict take it."), this.mistake,
            h("div", { class: "line" },
                h("button", { type: "button", class: "small", onclick: () => download(OWN_ROOM, this.text.value) }, "Save room.toml"),
                h("button", { type: "button", class: "small", onclick: () => openFile.click() }, "Open a file"), openFile));
        const legend = h("ul", { class: "legend" }, ...FATES.map(([role, words]) => h("li", {}, h("span", { class: `dot ${role}`, "aria-hidden": "true" }), words)));
        const stage = h("div", { class: "stage" }, this.tools.element, this.canvas,
            h("div", { class: "film" }, this.playButton, this.clock, legend));
        const side = h("div", { class: "side" },
            this.runButton,
            this.answer.element,
            this.form.element,
            h("section", { class: "part" }, h("h2", { class: "minor" }, "In the room"), field("Surroundings", this.environment), this.list),
            toml);
        return {
            title: "Draw your room, and run it.",
            lead: "Put devices, routers and walls where they stand. The first device listens; all others send to it.",
            element: h("div", { class: "split room" }, stage, side),
            start: () => this.start(),
            end: () => this.end(),
        };
    }

    private start(): void {
        this.resized.observe(this.canvas);
        this.unthemed = themed(() => {
            this.plan.restyle();
            this.plan.draw();
        });
        void this.read(this.text.value, false);
        this.library.then((it) => {
            put(this.environment, ...it.environments.map((place) => h("option", { value: place.name }, place.title || place.name)));
            this.environment.value = this.model?.get(undefined, "environment") ?? "";
        }, () => undefined);
    }

    private end(): void {
        this.resized.disconnect();
        this.unthemed();
        this.plan.air?.pause();
        this.answer.end();
        stopWatching();
    }

    private async open(file: File | undefined): Promise<void> {
        if (!file) return;
        if (file.size > LONGEST_LAB) return put(this.mistake, wrong(new EngineError({ what: `${file.name} is no lab`, why: `it has more than ${LONGEST_LAB / 1024} KB`, remedy: "open a lab in TOML", line: 0 })));
        this.text.value = await file.text();
        await this.read(this.text.value, true);
    }

    /** Changes the model by hand, and the text with it. */
    private edit(change: () => void): void {
        if (!this.model) return;
        const before = this.text.value;
        change();
        // What was refused has changed nothing, and takes nothing of what can be made again.
        if (this.model.text !== before) this.past.keep(before);
        this.text.value = this.model.text;
        void this.read(this.text.value, true, true);
    }

    /** Takes the last change back, or makes it again. */
    private undo(again: boolean): void {
        const text = this.past.step(this.text.value, again);
        if (text === undefined) return announce(again ? "Nothing to make again." : "Nothing to take back.");
        this.text.value = text;
        this.plan.selected = undefined;
        void this.read(text, true);
        announce(again ? "Made again." : "Taken back.");
    }

    /** Reads a text, draws it, and keeps it where it is right. */
    private async read(text: string, is_change: boolean, by_hand = false): Promise<void> {
        const mine = ++this.drawing;
        this.dropFilm();
        try {
            if (!by_hand) this.model = new RoomModel(text);
        } catch (why) {
            // The engine says it better, with line and column.
            this.model = undefined;
            if (why instanceof RangeError) {
                const shorter = { what: "this room is too long for a page", why: `it has more than ${LONGEST_LAB / 1024} KB`, remedy: "ask espbench predict fleet --lab with the file", line: 0 };
                return put(this.mistake, wrong(new EngineError(shorter)));
            }
        }
        if (is_change) {
            this.shared.lab = text;
            this.answer.stop();
            this.answer.element.classList.add("old");
            this.changed();
        }
        try {
            const room = await drawn(OWN_ROOM, text);
            if (mine !== this.drawing) return;
            put(this.mistake);
            const is_first = !this.room;
            this.room = this.plan.room = room;
            if (is_first || !by_hand) this.plan.fit();
            else this.plan.draw();
            this.runButton.disabled = room.devices === 0 || room.variants.length > 0;
        } catch (why) {
            if (mine !== this.drawing) return;
            put(this.mistake, wrong(why));
            const details = this.mistake.closest("details");
            if (details) details.open = true;
            this.runButton.disabled = true;
        }
        this.describe();
    }

    private choose(item: Item | undefined): void {
        this.plan.selected = item;
        this.plan.draw();
        this.describe();
    }

    /** Tells in words what the plan shows, with fields for each thing. */
    private describe(): void {
        const { model, room } = this;
        this.canvas.setAttribute("aria-label", room ? `Plan: ${room.devices + 1} devices, ${room.walls.length} walls. ${Tools.help}` : "Plan");
        if (!model || !room) return put(this.list);
        this.environment.value = model.get(undefined, "environment");
        put(this.list, properties(model, room, this.plan.selected, {
            choose: (item) => this.choose(item),
            edit: (change) => this.edit(change),
        }));
    }

    private run(): void {
        const own = { text: this.text.value, devices: this.room?.devices ?? 0 };
        this.answer.element.classList.remove("old");
        if (own.devices > MOST_DEVICES) {
            return this.answer.refuse(new EngineError({
                what: "this room is too large for a page", why: `it has ${own.devices} devices, and ${MOST_DEVICES} are simulated here at most`,
                remedy: "save it as a file and ask espbench predict fleet --lab", line: 0,
            }));
        }
        const asked = question(this.settings, own);
        this.answer.ask(asked, command(this.settings, own));
        void this.shoot(asked);
    }

    private async shoot(asked: ReturnType<typeof question>): Promise<void> {
        this.dropFilm();
        const mine = this.drawing;
        try {
            const seen = await watch(asked, (Math.max(2, (this.settings.every / 1000) * 3)), FILM_FRAMES);
            if (mine !== this.drawing) return;
            this.plan.air = new AirView(seen, () => this.plan.draw(), (us, done) => {
                this.clock.textContent = `${(us / 1e6).toFixed(3)} s of the room’s time`;
                if (done) this.playButton.textContent = "Play again";
            });
            this.playButton.disabled = seen.flights.length === 0;
            this.clock.textContent = `${seen.flights.length} frames`;
            if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.toggleFilm();
        } catch (why) {
            if (mine === this.drawing) this.clock.textContent = why instanceof Error ? why.message : "";
        }
    }

    private toggleFilm(): void {
        const { air } = this.plan;
        if (!air) return;
        if (air.runs) air.pause();
        else air.play();
        this.playButton.textContent = air.runs ? "Pause" : "Play";
    }

    private dropFilm(): void {
        this.plan.air?.pause();
        this.plan.air = undefined;
        this.playButton.disabled = true;
        this.playButton.textContent = "Play";
        this.clock.textContent = "";
    }
}

export type { Tool };
