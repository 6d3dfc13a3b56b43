import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { digits, every, life, percent, quoted, time } from "../../src/format";
import { command, question } from "../../src/question";
import { USUAL } from "../../src/share";

test("a figure has as many digits as its interval bears", () => {
    assert.deepEqual(percent({ value: 0.0244, ci_low: 0.0068, ci_high: 0.087 }), { value: "0.024", unit: "%", interval: "0.0068 to 0.087" });
    assert.deepEqual(time({ value: 9.1712, ci_low: 8.14, ci_high: 9.66 }), { value: "9.2", unit: "ms", interval: "8.1 to 9.7" });
    assert.deepEqual(time({ value: 2500, ci_low: 2400, ci_high: null }), { value: "2.5", unit: "s", interval: "2.4 to ?" });
    assert.deepEqual(life({ value: 800, ci_low: 780, ci_high: 820 }), { value: "2.19", unit: "years", interval: "2.14 to 2.25" });
    assert.equal(percent(null).value, "–");
    assert.equal(percent({ value: 0, ci_low: 0, ci_high: 0.1 }).value, "0");
    assert.equal(digits(1234.5, 2), "1235");
});

test("times are words of the command", () => {
    assert.deepEqual([20, 1000, 90_000, 300_000, 3_600_000].map(every), ["20ms", "1s", "90s", "5min", "1h"]);
});

test("a command asks what the page asks", () => {
    assert.equal(command(USUAL), "espbench predict fleet --room office --profile esp32 --devices 20 --every 1s --payload 50");
    const it = { ...USUAL, battery: "2xAA", sleep: "light", rate: "24M", cast: "broadcast" as const, encrypt: true, seed: 5 };
    assert.equal(command(it, { text: "", devices: 4 }), "espbench predict fleet --lab room.toml --devices 4 --every 1s --payload 50 --phy-rate 24M --cast broadcast --encrypt --battery 2xAA --sleep light --seed 5");
    const asked = question(it, { text: "t", devices: 4 });
    assert.deepEqual([asked.lab, asked.text, asked.devices, asked.profile], ["room.toml", "t", [4], undefined]);
    assert.equal(quoted("it's"), `'it'\\''s'`);
});

test("colours are those of the reports", () => {
    const roles = [...readFileSync("../crates/espbench/src/render/palette.rs", "utf8").matchAll(/name: "([^"]+)",\s*meaning: "[^"]+",\s*light: "([^"]+)",\s*dark: "([^"]+)"/g)];
    const css = readFileSync("src/palette.css", "utf8");
    assert.ok(roles.length >= 19);
    for (const [, name, light, dark] of roles) {
        const found = [...css.matchAll(new RegExp(`--${name}: (.*);`, "g"))].map((it) => it[1]);
        assert.deepEqual(found, [`light-dark(${light}, ${dark})`], name);
    }
});
