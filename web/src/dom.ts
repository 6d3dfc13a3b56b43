/// Elements without HTML as text: what comes from outside is only ever the text of a node.

type Child = Node | string | number | null | undefined | false;

type Props = Record<string, string | number | boolean | undefined | ((event: never) => void)>;

function fill(element: Element, props: Props, children: Child[]): void {
    for (const [name, value] of Object.entries(props)) {
        if (value === undefined || value === false) continue;
        if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
}

/** Makes an element; a property whose name begins with `on` is a listener. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    fill(element, props, children);
    return element;
}

/** Makes an element of a drawing. */
export function svg(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    fill(element, props, children);
    return element;
}

/** Replaces what is in an element. */
export function put(element: Element, ...children: Child[]): void {
    element.replaceChildren();
    fill(element, {}, children);
}

/** Tells people who do not see the page what has happened. */
export function announce(text: string): void {
    const said = document.getElementById("said");
    if (said && said.textContent !== text) said.textContent = text;
}

let numbered = 0;

/** Returns an id that no other element has. */
export const freshId = (): string => `id${++numbered}`;

/** Makes a labelled field. */
export function field(label: string, control: HTMLElement, hint = ""): HTMLElement {
    const id = (control.id ||= freshId());
    const help = hint ? h("span", { class: "hint", id: `${id}-hint` }, hint) : null;
    if (help) control.setAttribute("aria-describedby", help.id);
    return h("div", { class: "field" }, h("label", { for: id }, label), control, help);
}

/** Makes a choice. */
export function select(options: readonly (readonly [string, string])[], value: string, changed: (value: string) => void): HTMLSelectElement {
    const element = h("select", {}, ...options.map(([word, text]) => h("option", { value: word }, text)));
    element.value = value;
    element.addEventListener("change", () => changed(element.value));
    return element;
}

/** Makes a command's line, which breaks between words and not within its flags. */
export function commandLine(text: string): HTMLElement {
    return h("code", {}, ...text.split(" ").flatMap((word, at) => [at > 0 ? " " : "", h("span", { class: "word" }, word)]));
}

/** Hands a text out as a file. */
export function download(name: string, text: string): void {
    const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    h("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Copies a text, and says so on the button that was pressed. */
export async function copy(text: string, button: HTMLElement, said: string): Promise<void> {
    const before = (button.dataset.name ??= button.textContent ?? "");
    let told = said;
    try {
        await navigator.clipboard.writeText(text);
        announce(said);
    } catch {
        told = "Not allowed: copy it by hand";
        announce("The browser does not let this page copy: mark the text and copy it.");
    }
    button.textContent = told;
    setTimeout(() => (button.textContent = before), 2000);
}

/** Calls a function once things have been quiet for so long. */
export function quietly(after: number, call: () => void): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    return () => {
        clearTimeout(timer);
        timer = setTimeout(call, after);
    };
}
