/// The page: one task at a time, chosen by the fragment of its address.

import { wrong } from "./answer";
import { announce, copy, h, put, quietly } from "./dom";
import { library, load, ownScript } from "./engine/client";
import type { Flow } from "./flow";
import { boardFlow } from "./flows/board";
import { compareFlow } from "./flows/compare";
import { doctorFlow } from "./flows/doctor";
import { predictFlow } from "./flows/predict";
import { roomFlow } from "./flows/room";
import { fragment, LONGEST_FRAGMENT, read, type Shared, type Task, TASKS } from "./share";

const WORDS: Record<Task, string> = { room: "Room", predict: "Predict", compare: "Compare", doctor: "Doctor", board: "Board" };

/** Name under which a tab keeps the colours that were chosen. */
const THEME = "espbench-theme";

const main = document.getElementById("main") as HTMLElement;
const links = new Map<Task, HTMLAnchorElement>();
const there = library();
let flow: Flow | undefined;
let shared: Shared = { task: "room" };
/** What was done in this tab, by task. */
const before = new Map<Task, Shared>();
/** The fragment that the page has written itself. */
let written = "";

const keep = quietly(300, () => {
    void fragment(shared).then((text) => {
        if (text.length > LONGEST_FRAGMENT) return;
        written = text;
        history.replaceState(null, "", `#${text}`);
    });
});

function show(next: Shared, mistake?: unknown, corrected: string[] = []): void {
    flow?.end();
    shared = next;
    before.set(next.task, next);
    for (const [task, link] of links) {
        if (task === next.task) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    const make: Record<Task, () => Flow> = {
        room: () => roomFlow(next, there, keep),
        predict: () => predictFlow(next, keep),
        compare: () => compareFlow(next, keep),
        doctor: doctorFlow,
        board: boardFlow,
    };
    flow = make[next.task]();
    document.title = `${WORDS[next.task]} · espbench`;
    put(main,
        h("div", { class: "head" }, h("h1", {}, flow.title), h("p", { class: "lead" }, flow.lead)),
        mistake === undefined ? null : wrong(mistake),
        ...corrected.map((it) => h("p", { class: "warning", role: "status" }, `Of this link ${it}.`)),
        flow.element);
    flow.start();
}

async function follow(): Promise<void> {
    const hash = location.hash.replace(/^#/, "");
    if (hash === written && flow) return;
    written = hash;
    try {
        const { shared: next, corrected } = await read(hash);
        const known = before.get(next.task);
        show(known && !hash.includes("=") ? known : next, undefined, corrected);
    } catch (why) {
        show({ task: "room" }, why);
    }
}

function theme(): void {
    const button = h("button", { type: "button", class: "small" });
    const say = (): void => {
        const now = document.documentElement.dataset.theme ?? "auto";
        button.textContent = { auto: "Colours: auto", light: "Colours: light", dark: "Colours: dark" }[now] ?? "";
    };
    try {
        const kept = localStorage.getItem(THEME);
        if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
    } catch {
        // A browser that keeps nothing has the system's colours.
    }
    button.addEventListener("click", () => {
        const now = document.documentElement.dataset.theme;
        const next = now === undefined ? "dark" : now === "dark" ? "light" : undefined;
        if (next) document.documentElement.dataset.theme = next;
        else delete document.documentElement.dataset.theme;
        try {
            if (next) localStorage.setItem(THEME, next);
            else localStorage.removeItem(THEME);
        } catch {
            // As above.
        }
        say();
        document.dispatchEvent(new Event("themed"));
    });
    say();
    const share = h("button", {
        type: "button", class: "small", onclick: () => void fragment(shared).then((text) => {
            if (text.length > LONGEST_FRAGMENT) return announce("This room is too large for a link: save it as a file.");
            const link = new URL(`#${text}`, location.href).href;
            history.replaceState(null, "", `#${text}`);
            written = text;
            void copy(link, share, "Link copied");
        }),
    }, "Share");
    put(document.getElementById("tools") as HTMLElement, share, button);
}

for (const task of TASKS) {
    const link = h("a", { href: `#${task}` }, WORDS[task]);
    links.set(task, link);
}
put(document.getElementById("tasks") as HTMLElement, ...links.values());
document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
});
// A file that misses its place is not opened in place of the page.
for (const kind of ["dragover", "drop"] as const) addEventListener(kind, (event) => event.preventDefault());
theme();
addEventListener("hashchange", () => void follow());
void follow();
there.then((it) => {
    const foot = document.getElementById("foot");
    if (foot) foot.textContent = `Everything is computed in this browser by ${it.tool}. Nothing is sent anywhere.`;
}, (why: unknown) => main.querySelector(".head")?.after(wrong(why)));
void load().catch(() => undefined);
if ("serviceWorker" in navigator && import.meta.env.PROD) {
    addEventListener("load", () => {
        const url = ownScript(new URL("sw.js", document.baseURI));
        navigator.serviceWorker.register(url).catch(() => undefined);
    });
}
