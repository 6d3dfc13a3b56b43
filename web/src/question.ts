/// From settings to the engine's question, and to the command that asks the same.

import type { FleetQuestion } from "./engine/types";
import { every, quoted } from "./format";
import type { Settings } from "./share";

/** Places of predictions: the command's words, the labs behind them, and the words for people. */
export const PLACES: Record<string, { lab: string; place: string; words: string }> = {
    office: { lab: "room-office", place: "office", words: "Office floor, 1 to 15 m" },
    home: { lab: "room-home", place: "home", words: "Flat of masonry, 1 to 9 m" },
    hall: { lab: "room-hall", place: "hall", words: "Factory hall, 2 to 40 m" },
    open: { lab: "room-open", place: "open ground", words: "Open ground, 2 to 100 m" },
    bench: { lab: "many-boards", place: "bench", words: "One table, 0.5 m" },
};

/** Name of the room that is drawn. */
export const OWN_ROOM = "room.toml";

/** Chips that run the component. */
export const PROFILES = ["esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c5", "esp32c6", "esp32c61"] as const;

/** A room that was drawn, with the number of its devices. */
export interface OwnRoom {
    text: string;
    devices: number;
}

/** Returns the engine's question. */
export function question(it: Settings, own?: OwnRoom, numbers?: number[]): FleetQuestion {
    const { lab, place } = own ? { lab: OWN_ROOM, place: OWN_ROOM } : (PLACES[it.room] ?? PLACES.office!);
    const asked: FleetQuestion = {
        lab, place,
        devices: numbers ?? [own?.devices ?? it.devices],
        every: every(it.every),
        payload: it.payload,
        broadcast: it.cast === "broadcast",
        encrypt: it.encrypt,
    };
    if (own) asked.text = own.text;
    else {
        asked.profile = it.profile;
        asked.walls = it.walls;
    }
    if (it.rate) asked.phy_rate = it.rate;
    if (it.battery) asked.battery = it.battery;
    if (it.sleep) asked.sleep = it.sleep;
    if (it.seed) asked.seed = it.seed;
    return asked;
}

/** Returns the command that asks the same. */
export function command(it: Settings, own?: OwnRoom, numbers?: number[]): string {
    const words = ["espbench", "predict", "fleet"];
    if (own) words.push("--lab", OWN_ROOM);
    else words.push("--room", it.room, "--profile", it.profile);
    words.push("--devices", (numbers ?? [own?.devices ?? it.devices]).join(","), "--every", every(it.every), "--payload", String(it.payload));
    if (!own && it.walls) words.push("--walls", String(it.walls));
    if (it.rate) words.push("--phy-rate", it.rate);
    if (it.cast === "broadcast") words.push("--cast", "broadcast");
    if (it.encrypt) words.push("--encrypt");
    if (it.battery) words.push("--battery", it.battery);
    if (it.sleep) words.push("--sleep", it.sleep);
    if (it.seed) words.push("--seed", String(it.seed));
    return words.map(quoted).join(" ");
}
