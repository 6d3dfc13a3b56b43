// The engine in node, asked as the page's workers ask it.
import { readFileSync } from "node:fs";

/** Loads a module: `bytes` returns an answer, `ask` one as a text. */
export async function engine(path) {
    const { instance } = await WebAssembly.instantiate(readFileSync(path), {});
    const { memory, allocate, free, ask } = instance.exports;
    const bytes = (question) => {
        const text = new TextEncoder().encode(JSON.stringify(question));
        const at = allocate(text.length);
        new Uint8Array(memory.buffer, at, text.length).set(text);
        const answer = ask(at, text.length) >>> 0;
        free(at, text.length);
        const length = new DataView(memory.buffer).getUint32(answer, true);
        const copy = new Uint8Array(memory.buffer, answer + 4, length).slice();
        free(answer, length + 4);
        return copy;
    };
    return { exports: instance.exports, memory, bytes, ask: (question) => new TextDecoder().decode(bytes(question)) };
}
