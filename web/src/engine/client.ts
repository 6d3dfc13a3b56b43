/// The engine's workers: one that has a question in hand, others that simulate its rooms.

import engineUrl from "./engine.wasm?url";
import workerUrl from "./worker.ts?worker&url";
import type { FromWorker, ToWorker } from "./worker";
import { type Comparison, type DrawnFlights, type DrawnRoom, EngineError, type FleetQuestion, type LibraryList, type Wrong } from "./types";

/** Workers that simulate rooms, at most. */
const MOST_WORKERS = 8;

/** A room that began this long before its question was dropped keeps its worker; a longer one is ended with it. */
const PATIENCE_MS = 150;

/** Least time between two answers that are not whole, in ms. */
const BETWEEN_MS = 90;

let loaded: Promise<WebAssembly.Module> | undefined;

/** Loads the engine, once. */
export function load(): Promise<WebAssembly.Module> {
    loaded ??= (async () => {
        const response = await fetch(engineUrl);
        if (!response.ok) throw broken(`the server answered ${response.status}`);
        const kind = response.headers.get("Content-Type") ?? "";
        return kind.startsWith("application/wasm")
            ? WebAssembly.compileStreaming(response)
            : WebAssembly.compile(await response.arrayBuffer());
    })();
    loaded.catch(() => (loaded = undefined));
    return loaded;
}

function broken(why: string): EngineError {
    const remedy = "load the page again; a smaller room or fewer devices takes less memory";
    return new EngineError({ what: "the engine has stopped", why, remedy, line: 0 });
}

const policy = window.trustedTypes?.createPolicy("espbench", {
    createScriptURL: (url: string) => {
        if (new URL(url, location.href).origin !== location.origin) throw new TypeError("a script of another origin");
        return url;
    },
});

/** Returns the address of a script of ours, as the browser wants it. */
export function ownScript(url: URL): string {
    return (policy?.createScriptURL(url.href) as unknown as string | undefined) ?? url.href;
}

declare global {
    interface Window {
        trustedTypes?: { createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown } };
    }
}

function spawn(): Worker {
    return new Worker(ownScript(new URL(workerUrl, location.href)), { type: "module" });
}

interface Waiting {
    resolve(bytes: Uint8Array): void;
    reject(why: EngineError): void;
}

/** A worker with the engine in it, which answers one question after the other. */
export class EngineWorker {
    private worker: Worker | undefined;
    private starting: Promise<Worker> | undefined;
    private readonly waiting = new Map<number, Waiting>();
    private next = 1;

    private started(): Promise<Worker> {
        this.starting ??= this.start();
        return this.starting;
    }

    private async start(): Promise<Worker> {
        const worker = spawn();
        this.worker = worker;
        worker.onmessage = (event: MessageEvent<FromWorker>) => this.hear(event.data);
        worker.onerror = (event) => this.fail(broken(event.message || "its worker could not be started"));
        try {
            const module = await load();
            worker.postMessage({ kind: "module", module } satisfies ToWorker);
        } catch (why) {
            this.end();
            throw why instanceof EngineError ? why : broken(why instanceof Error ? why.message : String(why));
        }
        return worker;
    }

    private hear(message: FromWorker): void {
        if (message.kind === "broken") return this.fail(broken(message.why));
        if (message.kind === "answer") {
            this.waiting.get(message.id)?.resolve(message.bytes);
            this.waiting.delete(message.id);
        }
    }

    private fail(why: EngineError): void {
        this.worker?.terminate();
        this.worker = this.starting = undefined;
        for (const it of this.waiting.values()) it.reject(why);
        this.waiting.clear();
    }

    /** Ends the worker; a later question starts another one. */
    end(): void {
        this.fail(new EngineError({ what: "stopped", why: "", remedy: "", line: 0 }));
    }

    private async send(make: (id: number) => ToWorker, transfer: Transferable[] = []): Promise<Uint8Array> {
        const worker = await this.started();
        const id = this.next++;
        return new Promise((resolve, reject) => {
            this.waiting.set(id, { resolve, reject });
            worker.postMessage(make(id), transfer);
        });
    }

    /** Asks, and returns bytes. */
    bytes(question: object): Promise<Uint8Array> {
        return this.send((id) => ({ kind: "ask", id, question: JSON.stringify(question) }));
    }

    /** Asks, and returns the answer. */
    async ask<T>(question: object): Promise<T> {
        return read<T>(await this.bytes(question));
    }

    /** Hands bytes over. */
    async put(bytes: Uint8Array): Promise<void> {
        await this.send((id) => ({ kind: "put", id, bytes }), [bytes.buffer as ArrayBuffer]);
    }
}

function read<T>(bytes: Uint8Array): T {
    const answer = JSON.parse(new TextDecoder().decode(bytes)) as { ok: T } | { error: Wrong };
    if ("error" in answer) throw new EngineError(answer.error);
    return answer.ok;
}

/** For short questions: rooms as they are drawn, comparisons. */
const desk = new EngineWorker();

/** Returns what there is. */
export const library = (): Promise<LibraryList> => desk.ask({ ask: "library" });

/** Returns a room as it is drawn. */
export const drawn = (name: string, text: string): Promise<DrawnRoom> => desk.ask({ ask: "room", name, text, seed: null });

/** Compares two reports. */
export const versus = (ours: string, other: string): Promise<Comparison[]> => desk.ask({ ask: "versus", ours, other });

const watcher = new EngineWorker();

/** Returns frames on the air of a question's first room; a question before it is dropped. */
export async function watch(fleet: FleetQuestion, seconds: number, most: number): Promise<DrawnFlights> {
    return watcher.ask({ ask: "watch", fleet, seconds, most });
}

/** Ends a question for frames that takes too long. */
export const stopWatching = (): void => watcher.end();

interface Job {
    question: FleetQuestion;
    case: number;
    room: number;
    done(bytes: Uint8Array): void;
    failed(why: EngineError): void;
}

interface Helper {
    worker: EngineWorker;
    job: Job | undefined;
    since: number;
}

const helpers: Helper[] = [];
let jobs: Job[] = [];

function hand(): void {
    const most = Math.min(MOST_WORKERS, Math.max(1, navigator.hardwareConcurrency || 1));
    while (jobs.length > 0) {
        let helper = helpers.find((it) => !it.job);
        if (!helper) {
            if (helpers.length >= most) return;
            helper = { worker: new EngineWorker(), job: undefined, since: 0 };
            helpers.push(helper);
        }
        const job = jobs.shift() as Job;
        void simulate(helper, job);
    }
}

async function simulate(helper: Helper, job: Job): Promise<void> {
    helper.job = job;
    helper.since = performance.now();
    try {
        const question = { ask: "trial", fleet: job.question, case: job.case, room: job.room };
        const bytes = await helper.worker.bytes(question);
        // A room is in bytes of its own: JSON is an error.
        if (bytes[0] === 0x7b) read<never>(bytes);
        job.done(bytes);
    } catch (why) {
        job.failed(why as EngineError);
    }
    helper.job = undefined;
    hand();
}

/** An answer, whole or as far as it has come. */
export interface Predicted {
    whole: boolean;
    report: string;
    /** Rooms of the fleet that have come, and of all. */
    rooms: number;
    of: number;
    took: number;
}

/** A question of which the answer is under way. */
export interface Asked {
    /** Resolves with the whole answer; rejects where it was stopped, or cannot be given. */
    readonly whole: Promise<Predicted>;
    stop(): void;
}

/** Predicts a fleet: `told` hears of answers that get finer. */
export function predict(asker: EngineWorker, question: FleetQuestion, told: (answer: Predicted) => void): Asked {
    const begun = performance.now();
    let stopped = false;
    let mine: Job[] = [];
    const stop = (): void => {
        stopped = true;
        jobs = jobs.filter((it) => !mine.includes(it));
        setTimeout(() => {
            for (const helper of helpers) {
                if (helper.job && mine.includes(helper.job) && performance.now() - helper.since > PATIENCE_MS) helper.worker.end();
            }
        }, PATIENCE_MS);
    };
    const whole = (async (): Promise<Predicted> => {
        const needed = await asker.ask<{ rooms: number; cases: number[] }>({ ask: "fleet", fleet: question });
        const all = needed.rooms * needed.cases.length;
        // Cases of the question itself come before changes that are tried.
        const own = question.devices.length;
        const of_case = needed.cases.map(() => 0);
        let [came, first, last] = [0, 0, 0];
        let busy = Promise.resolve();
        const answer = async (): Promise<Predicted> => {
            const part = await asker.ask<{ whole: boolean; report: string }>({ ask: "predicted" });
            return { ...part, rooms: first, of: needed.rooms, took: performance.now() - begun };
        };
        await new Promise<void>((resolve, reject) => {
            const failed = (why: EngineError): void => {
                stop();
                reject(why);
            };
            const done = (of: number) => (bytes: Uint8Array): void => {
                if (stopped) return reject(new EngineError({ what: "stopped", why: "", remedy: "", line: 0 }));
                busy = busy.then(async () => {
                    await asker.put(bytes);
                    came += 1;
                    of_case[of] = (of_case[of] ?? 0) + 1;
                    const before = first;
                    first = Math.min(...of_case.slice(0, own));
                    if (came === all) return resolve();
                    const now = performance.now();
                    // Two rooms are the fewest with an interval; changes are told of once, at the end.
                    const is_news = first > before && first >= 2 && (now - last > BETWEEN_MS || first === needed.rooms);
                    if (is_news && !stopped) {
                        last = now;
                        told(await answer());
                    }
                }).catch(failed);
            };
            const job = (at: number, room: number): Job => ({ question, case: at, room, done: done(at), failed });
            for (let room = 0; room < needed.rooms; room++) for (let at = 0; at < own; at++) mine.push(job(at, room));
            for (let at = own; at < needed.cases.length; at++) for (let room = 0; room < needed.rooms; room++) mine.push(job(at, room));
            if (stopped) return reject(new EngineError({ what: "stopped", why: "", remedy: "", line: 0 }));
            jobs.push(...mine);
            hand();
        });
        const final = await answer();
        mine = [];
        if (!stopped) told(final);
        return final;
    })();
    whole.catch(() => undefined);
    return { whole, stop };
}
