// node run.mjs MODULE PLAN [LAB [SEED]]: prints the report of a plan as JSON, and to stderr how long it took.
import { readFileSync } from "node:fs";

const [, , module, plan, lab = "", seed = "0"] = process.argv;
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const { memory, allocate, free, report } = instance.exports;

function put(text) {
    const bytes = new TextEncoder().encode(text);
    const at = allocate(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    return [at, bytes.length];
}

const begun = performance.now();
const [planText, labText] = [put(readFileSync(plan, "utf8")), put(lab)];
const at = report(...planText, ...labText, BigInt(seed));
const length = new DataView(memory.buffer).getUint32(at, true);
const text = new TextDecoder().decode(new Uint8Array(memory.buffer, at + 4, length));
free(...planText);
free(...labText);
free(at, 4 + length);
const took = (performance.now() - begun).toFixed(0);
console.error(`${took} ms, ${(memory.buffer.byteLength / 1e6).toFixed(1)} MB of memory`);
console.log(text);
