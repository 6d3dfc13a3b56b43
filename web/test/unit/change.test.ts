import assert from "node:assert/strict";
import { test } from "node:test";
import { setting, words } from "../../src/change";

test("a change is a setting of the form where the form has one", () => {
    assert.deepEqual(setting({ flag: "--phy-rate", to: "24M" }), { rate: "24M" });
    assert.deepEqual(setting({ flag: "--every", to: "2s", to_ms: 2000 }), { every: 2000 });
    assert.deepEqual(setting({ flag: "--sleep", to: "light" }), { sleep: "light" });
    for (const [flag, to] of [["--phy-rate", "9M"], ["--every", "soon"], ["--set", "CONFIG_A=y"], ["--boot", "fast"]] as const) assert.equal(setting({ flag, to }), undefined);
});

test("a change is said without flags", () => {
    assert.deepEqual([{ flag: "--phy-rate", to: "24M" }, { flag: "--every", to: "2s", to_ms: 2000 }, { flag: "--set", to: "CONFIG_A=y" }, { flag: "--attempts", to: "3" }].map(words),
        ["PHY rate 24M", "a message every 2 s", "CONFIG_A=y", "up to 3 attempts"]);
});
