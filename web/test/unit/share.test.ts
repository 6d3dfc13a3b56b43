import assert from "node:assert/strict";
import { test } from "node:test";
import { fragment, LinkError, LONGEST_FRAGMENT, LONGEST_TEXT, read, type Shared, settingsOf, USUAL } from "../../src/share";

async function packed(value: unknown): Promise<string> {
    const stream = new Blob([typeof value === "string" ? value : JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    return Buffer.from(await new Response(stream).arrayBuffer()).toString("base64url");
}

test("what is shared comes back", async () => {
    const shared: Shared = { task: "compare", lab: 'title = "ä"\n', settings: { ...USUAL, devices: 7, rate: "24M" }, other: { ...USUAL, battery: "2xAA" } };
    assert.deepEqual(await read(`#${await fragment(shared)}`), { shared, corrected: [] });
    assert.equal(await fragment({ task: "doctor" }), "doctor");
    assert.deepEqual(await read("#doctor"), { shared: { task: "doctor" }, corrected: [] });
    assert.deepEqual(await read(""), { shared: { task: "room" }, corrected: [] });
});

test("a task that is none is the room, and that is said", async () => {
    for (const hash of ["#__proto__", "#constructor", "#<script>", "#room2"]) {
        assert.deepEqual(await read(hash), { shared: { task: "room" }, corrected: [`there is no task ${hash.slice(1)}: this is the room`] });
    }
});

test("what a link has out of range is told", async () => {
    const { shared, corrected } = await read(`#predict=${await packed({ settings: { ...USUAL, payload: 2000, room: "moon", devices: 7 } })}`);
    assert.deepEqual([shared.settings?.payload, shared.settings?.room, shared.settings?.devices], [50, "office", 7]);
    assert.deepEqual(corrected, ["room cannot be moon: it is office here", "payload cannot be 2000: it is 50 here"]);
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
        await assert.rejects(read(hash), LinkError, hash.slice(0, 40));
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
    assert.deepEqual((await read(`#room=${await packed({ lab: 5, settings: 0, other: null })}`)).shared, { task: "room" });
    assert.deepEqual((await read(`#room=${await packed("null")}`)).shared, { task: "room" });
});
