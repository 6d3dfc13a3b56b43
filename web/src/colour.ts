/// Colours of the theme for canvases, which know no variables of a style.

/** Returns the colours of these names, as the page has them now. */
export function colours(names: readonly string[]): Record<string, string> {
    const probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);
    const found = names.map((it) => {
        probe.style.color = `var(--${it})`;
        return [it, getComputedStyle(probe).color] as const;
    });
    probe.remove();
    return Object.fromEntries(found);
}

/** Calls a function whenever the colours change, until the returned function is called. */
export function themed(call: () => void): () => void {
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", call);
    document.addEventListener("themed", call);
    return () => {
        system.removeEventListener("change", call);
        document.removeEventListener("themed", call);
    };
}
