/// Runs the engine: one module of WebAssembly, asked with JSON.

interface Exports {
    memory: WebAssembly.Memory;
    allocate(len: number): number;
    free(at: number, len: number): void;
    ask(at: number, len: number): number;
    put(at: number, len: number): number;
}

/** A message to the worker. */
export type ToWorker =
    | { kind: "module"; module: WebAssembly.Module }
    | { kind: "ask"; id: number; question: string }
    | { kind: "put"; id: number; bytes: Uint8Array };

/** A message of the worker. */
export type FromWorker =
    | { kind: "ready" }
    | { kind: "answer"; id: number; bytes: Uint8Array }
    | { kind: "broken"; id: number; why: string };

const worker = self as unknown as DedicatedWorkerGlobalScope;
let engine: Exports | undefined;
/** Questions that come before the engine is there wait for it, in their order. */
let started: Promise<void> = Promise.resolve();

function say(message: FromWorker, transfer: Transferable[] = []): void {
    worker.postMessage(message, transfer);
}

function given<T>(bytes: Uint8Array, call: (at: number, len: number) => T): T {
    if (!engine) throw new Error("the engine is not there yet");
    const at = engine.allocate(bytes.length);
    new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
    try {
        return call(at, bytes.length);
    } finally {
        engine.free(at, bytes.length);
    }
}

function ask(question: string): Uint8Array {
    const it = engine;
    if (!it) throw new Error("the engine is not there yet");
    const at = given(new TextEncoder().encode(question), (from, len) => it.ask(from, len)) >>> 0;
    const length = new DataView(it.memory.buffer).getUint32(at, true);
    const answer = new Uint8Array(it.memory.buffer, at + 4, length).slice();
    it.free(at, length + 4);
    return answer;
}

async function start(module: WebAssembly.Module): Promise<void> {
    const instance = await WebAssembly.instantiate(module, {});
    engine = instance.exports as unknown as Exports;
    say({ kind: "ready" });
}

worker.onmessage = async (event: MessageEvent<ToWorker>) => {
    const message = event.data;
    const id = message.kind === "module" ? 0 : message.id;
    try {
        if (message.kind === "module") {
            started = start(message.module);
            await started;
        } else if (message.kind === "ask") {
            await started;
            const bytes = ask(message.question);
            say({ kind: "answer", id, bytes }, [bytes.buffer]);
        } else {
            await started;
            given(message.bytes, (at, len) => engine?.put(at, len));
            say({ kind: "answer", id, bytes: new Uint8Array() });
        }
    } catch (why) {
        // After a trap the memory of the engine may be anything: the page ends this worker.
        say({ kind: "broken", id, why: why instanceof Error ? why.message : String(why) });
    }
};
