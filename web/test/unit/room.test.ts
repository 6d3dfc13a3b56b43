import assert from "node:assert/strict";
import { test } from "node:test";
import type { Flight } from "../../src/engine/types";
import { film } from "../../src/room/air";
import { FIRST_ROOM, Past, RoomModel } from "../../src/room/model";

test("a room goes to TOML and back, with what the drawing does not know", () => {
    const model = new RoomModel(`${FIRST_ROOM}\n[[floor]]\nheight_m = 2.6\n`);
    assert.deepEqual(model.items().map((it) => model.name(it)), ["gateway", "window", "door", "heater", "plants", "router", "wall 1, brick"]);
    const added = model.add("group", 1.234, -2);
    assert.deepEqual(added, { kind: "group", index: 5 });
    const again = new RoomModel(model.text);
    assert.deepEqual(again.at({ kind: "group", index: 5 }), [[1.23, -2]]);
    assert.match(again.text, /height_m = 2.6/);
});

test("things are moved, named anew and removed", () => {
    const model = new RoomModel(FIRST_ROOM);
    const wall = { kind: "wall", index: 0 } as const;
    model.move(wall, 0, 0, 1);
    assert.deepEqual(model.at(wall), [[2.5, -4], [0, 0]]);
    model.move(wall, 0, 0);
    assert.deepEqual(model.at(wall), [[1.25, -2], [-1.25, 2]]);
    model.move({ kind: "router", index: 0 }, Number.NaN, 0);
    assert.deepEqual(model.at({ kind: "router", index: 0 }), [[1, 3]]);
    assert.equal(model.remove({ kind: "group", index: 0 }), false, "the first device listens");
    assert.equal(model.remove({ kind: "router", index: 0 }), true);
    assert.doesNotMatch(model.text, /router/);
    model.add("group", 0, 0);
    model.add("group", 0, 0);
    assert.match(model.text, /sensor-2/);
});

test("things that are added on one place stand side by side", () => {
    const model = new RoomModel(FIRST_ROOM);
    const added = [model.add("group", 1.25, -0.5), model.add("group", 1.25, -0.5), model.add("router", 1.25, -0.5), model.add("interferer", 1.25, -0.5)];
    const places = added.map((it) => model.at(it!)[0]!.join());
    assert.equal(new Set(places).size, 4, places.join(" "));
});

test("a thing has a name of its own", () => {
    const model = new RoomModel(FIRST_ROOM);
    assert.equal(model.rename({ kind: "group", index: 1 }, "garden"), undefined);
    assert.equal(model.rename({ kind: "group", index: 1 }, "garden"), undefined, "its own");
    assert.match(model.rename({ kind: "group", index: 2 }, "garden") ?? "", /Another thing/);
    assert.match(model.rename({ kind: "group", index: 2 }, "") ?? "", /a character/);
    assert.deepEqual(model.items().slice(0, 3).map((it) => model.name(it)), ["gateway", "garden", "door"]);
});

test("who is named by another keeps that", () => {
    const model = new RoomModel(`initiator = "desk"\n${FIRST_ROOM.replaceAll("gateway", "desk")}`);
    model.rename({ kind: "group", index: 0 }, "table");
    assert.match(model.text, /initiator = "table"/);
});

test("changes are taken back and made again", () => {
    const past = new Past();
    past.keep("one");
    past.keep("two");
    assert.equal(past.step("three", false), "two");
    assert.equal(past.step("two", false), "one");
    assert.equal(past.step("one", false), undefined);
    assert.equal(past.step("one", true), "two");
    past.keep("two");
    assert.equal(past.step("other", true), undefined, "a new change ends what was taken back");
});

test("a distance gives way to a place", () => {
    const model = new RoomModel('[[group]]\nname = "a"\n[[group]]\nname = "b"\ndistance_m = 5\n');
    model.move({ kind: "group", index: 1 }, 3, 4);
    assert.doesNotMatch(model.text, /distance_m/);
    assert.deepEqual(model.at({ kind: "group", index: 1 }), [[3, 4]]);
});

test("a text that is none, or that is hostile, is refused or harmless", () => {
    assert.throws(() => new RoomModel("[["));
    assert.throws(() => new RoomModel("a".repeat(300 * 1024)), RangeError);
    const odd = new RoomModel('group = 5\n[[wall]]\nfrom = "x"\nto = [1]\n[[router]]\nat = [nan, inf]\n__proto__ = 1\n');
    assert.deepEqual(odd.items().filter((it) => it.kind === "group"), []);
    for (const item of odd.items()) assert.deepEqual(odd.at(item), []);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test("the film cuts pauses short, and lets frames overlap that overlapped", () => {
    const flight = (begin: number, end: number): Flight => [begin, end, 1, 0, 0, 1, 0, 0, 1];
    const shots = film([flight(0, 500), flight(100, 600), flight(1_000_000, 1_000_500)]);
    assert.ok(shots[1]!.begin < shots[0]!.end, "they overlap");
    assert.ok(shots[2]!.begin >= shots[1]!.end, "the third comes after both");
    assert.ok(shots[2]!.begin < 3000, "a second of silence is no second of the film");
    assert.deepEqual(film([]), []);
});
