import assert from "node:assert/strict";
import { test } from "node:test";
import { fragment, LONGEST_FRAGMENT, LONGEST_TEXT, read, type Shared, settingsOf, USUAL } from "../../src/share";

async function packed(value: unknown): Promise<string> {
    const stream = new Blob([typeof value === "string" ? value : JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    return Buffer.from(await new Response(stream).arrayBuffer()).toString("base64url");
}

test("what is shared comes back", async () => {
    const shared: Shared = { task: "compare", lab: 'title = "ä"\n', settings: { ...USUAL, devices: 7, rate: "24M" }, other: { ...USUAL, battery: "2xAA" } };
    assert.deepEqual(await read(`#${await fragment(shared)}`), shared);
    assert.equal(await fragment({ task: "doctor" }), "doctor");
    assert.deepEqual(await read("#doctor"), { task: "doctor" });
    assert.deepEqual(await read(""), { task: "room" });
});

test("a task that is none is the room", async () => {
    for (const hash of ["#__proto__", "#constructor", "#<script>", "#room2"]) assert.deepEqual(await read(hash), { task: "room" });
});

test("settings from outside are checked one by one", () => {
    const hostile = { room: "__proto__", devices: 1e9, every: -1, payload: "5", rate: "<b>", profile: "a;rm -rf", cast: 3, encrypt: "yes", battery: "x".repeat(1000), sleep: {}, walls: 0.5, seed: Number.NaN };
    assert.deepEqual(settingsOf(hostile), USUAL);
    assert.deepEqual(settingsOf(null), USUAL);
    assert.deepEqual(settingsOf([1, 2]), USUAL);
    assert.equal(settingsOf({ devices: 300, battery: "LiPo-500" }).battery, "LiPo-500");
});

test("a fragment that is none is refused", async () => {
    for (const hash of ["#room=%%%", "#room=AAAA", "#room=____", `#room=${"A".repeat(LONGEST_FRAGMENT)}`, `#room=${await packed("{")}`, `#room=${await packed("\u0000")}`]) {
        await assert.rejects(read(hash), hash.slice(0, 40));
    }
});

test("a fragment that unpacks without end is refused in little memory", async () => {
    const bomb = await packed(`{"lab":"${"a".repeat(40 * 1024 * 1024)}"}`);
    assert.ok(bomb.length < LONGEST_FRAGMENT, `${bomb.length}`);
    const before = process.memoryUsage().arrayBuffers;
    await assert.rejects(read(`#room=${bomb}`), /unpacks to more/);
    assert.ok(process.memoryUsage().arrayBuffers - before < 20 * LONGEST_TEXT);
});

test("values of other types are left out", async () => {
    assert.deepEqual(await read(`#room=${await packed({ lab: 5, settings: 0, other: null })}`), { task: "room" });
    assert.deepEqual(await read(`#room=${await packed("null")}`), { task: "room" });
});
