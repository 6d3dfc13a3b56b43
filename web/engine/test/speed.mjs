// node speed.mjs MODULE [MODULE]: the processor's time that a room takes, for each module in turn: the least of all
// turns, in milliseconds, which other work on the machine disturbs least.
import { engine } from "./engine.mjs";

const TURNS = Number(process.env.TURNS ?? 12);
const ROOMS = {
    "20 devices of an office": { lab: "room-office", place: "office", devices: [20], every: "1s", payload: 50, profile: "esp32" },
    "100 devices of a hall": { lab: "room-hall", place: "hall", devices: [100], every: "1s", payload: 100, profile: "esp32c3" },
    "10 sensors on batteries": { lab: "room-home", place: "home", devices: [10], every: "10s", payload: 50, profile: "esp32c3", battery: "2xAA" },
};

const modules = await Promise.all(process.argv.slice(2).map(async (path) => {
    const { bytes } = await engine(path);
    return (question) => {
        const answer = bytes(question);
        // A room is in bytes of its own: JSON is an error.
        if (answer[0] === 0x7b) throw new Error(new TextDecoder().decode(answer));
    };
}));
for (const [name, fleet] of Object.entries(ROOMS)) {
    const least = modules.map(() => Infinity);
    for (let turn = 0; turn < TURNS; turn++) {
        for (const [at, ask] of modules.entries()) {
            const begun = process.cpuUsage();
            for (let room = 0; room < 4; room++) ask({ ask: "trial", fleet, case: 0, room });
            const { user, system } = process.cpuUsage(begun);
            // The first turn compiles.
            if (turn > 0) least[at] = Math.min(least[at], (user + system) / 4000);
        }
    }
    console.log(`${name}: ${least.map((it) => `${it.toFixed(2)} ms`).join(", ")}`);
}
