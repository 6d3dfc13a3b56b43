// node report.mjs MODULE PLAN [LAB [SEED]]: prints the report of a plan as JSON, and to stderr how long it took.
import { readFileSync } from "node:fs";
import { engine } from "./engine.mjs";

const [, , module, plan, lab = "", seed = "0"] = process.argv;
const it = await engine(module);
const begun = performance.now();
const answer = JSON.parse(it.ask({ ask: "report", plan: readFileSync(plan, "utf8"), lab, seed: Number(seed) }));
if (answer.error) throw new Error(Object.values(answer.error).join(": "));
console.error(`${(performance.now() - begun).toFixed(0)} ms, ${(it.memory.buffer.byteLength / 1e6).toFixed(1)} MB of memory`);
console.log(answer.ok);
