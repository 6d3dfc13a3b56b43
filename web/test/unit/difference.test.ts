import assert from "node:assert/strict";
import { test } from "node:test";
import { change, differences, told, verdict } from "../../src/difference";
import type { Comparison } from "../../src/engine/types";
import { USUAL } from "../../src/share";

test("what differs between A and B is said in words", () => {
    assert.equal(told(differences(USUAL, { ...USUAL, rate: "24M" })), "B differs from A: PHY rate 24M (A: 1M).");
    assert.equal(told(differences(USUAL, { ...USUAL, every: 500, battery: "2xAA", cast: "broadcast" })),
        "B differs from A: A message every 500 ms (A: 1 s); Power 2xAA (A: mains); Sent to all (A: to the gateway).");
    assert.equal(told(differences(USUAL, { ...USUAL })), "A and B are the same settings.");
    assert.deepEqual(differences(USUAL, { ...USUAL, rate: "24M" }).map((it) => it.key), ["rate"]);
});

test("a verdict is the engine's, in words", () => {
    const cell = { metric: "channel_busy", value: 20, unit: "percent", ci_low: 19, ci_high: 21 };
    const pair = (given: string): Comparison => ({
        ours: cell, other: { ...cell, value: 23 }, ratio: 0.886, ratio_low: 0.847, ratio_high: 0.926,
        difference: -3, difference_low: -3.5, difference_high: -2, lacks_interval: false, verdict: given,
    });
    assert.deepEqual(verdict(pair("differs")), { word: "differs", words: "differs; neither is better" });
    assert.equal(verdict(pair("worse")).words, "B is worse");
    assert.equal(change(pair("differs")), "0.886 [0.847 to 0.926] times A");
    assert.equal(change({ ...pair("worse"), ratio: null }), "-3.00 [-3.50 to -2.00] points away");
});
