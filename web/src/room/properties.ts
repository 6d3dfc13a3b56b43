/// What is in the room, as a list; of what is chosen, its fields.

import { announce, field, h, select } from "../dom";
import type { DrawnRoom } from "../engine/types";
import { PROFILES } from "../question";
import type { Item, RoomModel } from "./model";

/** What the list changes. */
export interface ListHost {
    choose(item: Item | undefined): void;
    edit(change: () => void): void;
}

/** Things that the list shows, at most. */
const MOST = 80;

/** Makes the list. */
export function properties(model: RoomModel, room: DrawnRoom, selected: Item | undefined, host: ListHost): HTMLElement {
    const items = model.items();
    const rows = items.slice(0, MOST).map((item) => {
        const chosen = selected?.kind === item.kind && selected.index === item.index;
        const name = model.name(item);
        const button = h("button", { type: "button", class: "thing", "aria-expanded": String(chosen), onclick: () => host.choose(chosen ? undefined : item) },
            h("span", { class: `dot ${dot(item)}`, "aria-hidden": "true" }), h("span", { class: "name" }, name), h("span", { class: "told" }, told(model, room, item)));
        return h("li", {}, button, chosen ? fields(model, room, item, host) : null);
    });
    const rest = items.length - rows.length;
    return h("div", {},
        h("ul", { class: "list" }, ...rows, rest > 0 ? h("li", { class: "hint" }, `and ${rest} more in the text`) : null),
        room.hidden > 0 ? h("p", { class: "warning" }, `${room.hidden} pairs of devices do not hear each other and both reach the gateway: hidden nodes.`) : null,
        room.variants.length > 0 ? h("p", { class: "warning" }, "This lab has variants over Wi-Fi: draw it here, and run it with the command.") : null,
        room.left_out > 0 ? h("p", { class: "hint" }, `${room.left_out} stations are not drawn.`) : null);
}

function dot(item: Item): string {
    if (item.kind === "group") return item.index === 0 ? "limit" : "s0";
    return { router: "management", wall: "wall", interferer: "collided" }[item.kind];
}

/** Tells how strong a group arrives at the first device. */
function told(model: RoomModel, room: DrawnRoom, item: Item): string {
    if (item.kind === "wall") {
        const db = room.walls[item.index]?.loss_db;
        return db === undefined ? "" : `${db} dB`;
    }
    if (item.kind !== "group") return item.kind === "router" ? `channel ${model.get(item, "channel") || "1"}` : "noise";
    if (item.index === 0) return "listens";
    const signal = room.signals.find((it) => it.group === model.name(item));
    if (!signal) return "";
    const [weak, strong] = [signal.weakest_dbm.toFixed(0), signal.strongest_dbm.toFixed(0)];
    const power = weak === strong ? `${weak} dBm` : `${weak} to ${strong} dBm`;
    return signal.unread > 0 ? `${power}, not read` : power;
}

function fields(model: RoomModel, room: DrawnRoom, item: Item, host: ListHost): HTMLElement {
    const number = (label: string, value: number, changed: (value: number) => void): HTMLElement => {
        const input = h("input", { type: "number", step: 0.25 });
        input.value = String(Math.round(value * 100) / 100);
        input.addEventListener("change", () => {
            if (Number.isFinite(input.valueAsNumber)) host.edit(() => changed(input.valueAsNumber));
        });
        return field(label, input);
    };
    const out = h("div", { class: "fields" });
    if (item.kind !== "wall") {
        const input = h("input", { type: "text", maxlength: 32, autocomplete: "off" });
        input.value = model.name(item);
        input.addEventListener("change", () => host.edit(() => {
            const why = model.rename(item, input.value.trim());
            if (why) announce(why);
        }));
        out.append(field("Name", input));
    }
    for (const [end, at] of model.at(item, room).entries()) {
        const suffix = item.kind === "wall" ? (end === 0 ? " of one end" : " of the other end") : "";
        const of = item.kind === "wall" ? (end as 0 | 1) : undefined;
        out.append(number(`x${suffix} (m)`, at[0], (x) => model.move(item, x, at[1], of)), number(`y${suffix} (m)`, at[1], (y) => model.move(item, at[0], y, of)));
    }
    if (item.kind === "group") {
        const value = model.get(item, "profile");
        const known = PROFILES.some((it) => it === value) ? PROFILES : [...PROFILES, value];
        out.append(field("Chip", select(known.map((it) => [it, it] as const), value, (it) => host.edit(() => model.set(item, "profile", it)))));
    } else if (item.kind === "wall") {
        const value = model.get(item, "material");
        const known = ["plasterboard", "wood", "glass", "light", "brick", "heavy", "concrete"];
        out.append(field("Material", select((known.includes(value) ? known : [...known, value]).map((it) => [it, it || "by its loss"] as const), value, (it) => host.edit(() => model.set(item, "material", it)))));
    } else if (item.kind === "router") {
        const channels = Array.from({ length: 13 }, (_, at) => String(at + 1));
        out.append(field("Channel", select(channels.map((it) => [it, it] as const), model.get(item, "channel") || "1", (it) => host.edit(() => model.set(item, "channel", Number(it))))));
    }
    return out;
}
