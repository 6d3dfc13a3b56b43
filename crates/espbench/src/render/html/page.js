"use strict";
/* Opens what a link leads to, and lets tables be sorted, filtered and copied. Without it the page is whole. */
(() => {
  const reveal = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let it = target; it; it = it.parentElement) if (it.tagName === "DETAILS") it.open = true;
    const inner = target.querySelector(":scope > details");
    if (inner) inner.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  /* Paper shows all chapters. */
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const it of document.querySelectorAll("section > details:not([open])")) { closed.push(it); it.open = true; }
  });
  addEventListener("afterprint", () => { while (closed.length) closed.pop().open = false; });

  const text = (cell) => cell ? cell.textContent.trim() : "";
  const number = (words) => { const n = parseFloat(words.replace(/[^0-9.eE+-]/g, "")); return isNaN(n) ? null : n; };
  /* What is copied out of the page says where it comes from. */
  const csv = (table) => [...table.rows].filter((row) => !row.hidden).map((row) => {
    const own = row.classList.contains("pub") ? "published" : table.dataset.origin;
    const origin = table.dataset.origin ? [row.parentNode === table.tHead ? "origin" : own] : [];
    const words = [...row.cells].map(text).concat(origin);
    return words.map((word) => '"' + word.replace(/"/g, '""') + '"').join(",");
  }).join("\n");
  const sort = (table, column, down) => {
    const body = table.tBodies[0], rows = [...body.rows];
    const order = (a, b) => {
      const [x, y] = [text(a.cells[column]), text(b.cells[column])], [n, m] = [number(x), number(y)];
      const by = n !== null && m !== null ? n - m : x.localeCompare(y);
      return down ? -by : by;
    };
    rows.sort(order).forEach((row) => body.append(row));
    [...table.tHead.rows[0].cells].forEach((head, at) =>
      at === column ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
  };
  const copy = (words, button) => {
    const said = () => { const was = button.textContent; button.textContent = "Copied"; setTimeout(() => { button.textContent = was; }, 1500); };
    const old = () => {
      const area = document.createElement("textarea");
      area.value = words; document.body.append(area); area.select(); document.execCommand("copy"); area.remove(); said();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(words).then(said, old); else old();
  };
  for (const box of document.querySelectorAll("section .scroll")) {
    const table = box.querySelector("table");
    if (!table || !table.tHead || !table.tBodies[0] || table.tBodies[0].rows.length < 3) continue;
    const bar = document.createElement("div"), find = document.createElement("input"), button = document.createElement("button");
    bar.className = "tools";
    find.type = "search"; find.placeholder = "Filter rows"; find.setAttribute("aria-label", "Filter rows");
    button.type = "button"; button.textContent = "Copy as CSV";
    bar.append(find, button);
    box.before(bar);
    find.addEventListener("input", () => {
      const words = find.value.toLowerCase();
      for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(words);
    });
    button.addEventListener("click", () => copy(csv(table), button));
    if (table.classList.contains("of")) continue; /* Its lines belong together. */
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.tabIndex = 0;
      head.classList.add("sorts");
      const turn = () => sort(table, column, head.getAttribute("aria-sort") === "ascending");
      head.addEventListener("click", turn);
      head.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); turn(); } });
    });
  }

  /* Values under the pointer, or under a line that the arrow keys move. */
  const made = (svg, name, attributes) => {
    const it = document.createElementNS(svg.namespaceURI, name);
    for (const key in attributes) it.setAttribute(key, attributes[key]);
    return it;
  };
  const united = (value, unit) => +value.toPrecision(3) + (unit ? " " + unit : "");
  const axis = (words) => {
    const [scale, low, high] = words.split(" "), [a, b] = [+low, +high];
    return scale === "log" ? (part) => a * (b / a) ** part : (part) => a + (b - a) * part;
  };
  const plotted = (group) => {
    const [left, right, top, bottom] = group.dataset.f.split(" ").map(Number);
    const [x, y] = [axis(group.dataset.x), axis(group.dataset.y)];
    const height = (path, at) => {
      let low = 0, high = path.getTotalLength();
      if (at < path.getPointAtLength(0).x - 1 || at > path.getPointAtLength(high).x + 1) return null;
      for (let step = 0; step < 24; step++) {
        const middle = (low + high) / 2;
        if (path.getPointAtLength(middle).x < at) low = middle; else high = middle;
      }
      return path.getPointAtLength(high).y;
    };
    const read = (at) => {
      const parts = [];
      for (const path of group.querySelectorAll("path.c")) {
        const place = height(path, at);
        if (place !== null) parts.push(path.dataset.n + " " + united(y((bottom - place) / (bottom - top)), group.dataset.v));
      }
      return united(x((at - left) / (right - left)), group.dataset.u) + ": " + (parts.join(" · ") || "no value");
    };
    return {left, right, top, bottom, read, curves: group.querySelector("path.c") !== null};
  };
  for (const svg of document.querySelectorAll("figure > svg:not(.tl)")) {
    const plots = [...svg.querySelectorAll(".plot")].map(plotted).filter((it) => it.curves);
    const marks = [...svg.querySelectorAll("path > title, rect > title")].map((title) => title.parentNode);
    const out = document.createElement("output"), cross = made(svg, "path", {class: "cross"});
    let plot = 0, at = null, chosen = -1;
    out.className = "read"; out.setAttribute("aria-live", "polite");
    svg.after(out); svg.append(cross); svg.tabIndex = 0;
    const mark = (it) => {
      for (const old of svg.querySelectorAll(".on")) old.classList.remove("on");
      if (it) { it.classList.add("on"); out.textContent = it.querySelector("title").textContent; }
    };
    const show = () => {
      const it = plots[plot];
      at = Math.min(Math.max(at, it.left), it.right);
      cross.setAttribute("d", `M${at} ${it.top}V${it.bottom}`);
      out.textContent = it.read(at);
    };
    const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    svg.addEventListener("pointermove", (event) => {
      const {x, y} = place(event), under = event.target.closest("path, rect");
      if (under && marks.includes(under)) { mark(under); return; }
      const found = plots.findIndex((it) => x >= it.left - 3 && x <= it.right + 3 && y >= it.top - 6 && y <= it.bottom + 6);
      if (found >= 0) { mark(null); plot = found; at = x; show(); }
    });
    svg.addEventListener("keydown", (event) => {
      const by = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -2, ArrowDown: 2}[event.key];
      if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      if (plots.length) {
        if (Math.abs(by) === 2) { plot = Math.min(Math.max(plot + by / 2, 0), plots.length - 1); at = null; }
        const it = plots[plot];
        at = at === null ? it.left : at + by * (it.right - it.left) / 60;
        show();
      } else if (marks.length) {
        chosen = Math.min(Math.max(chosen + Math.sign(by), 0), marks.length - 1);
        mark(marks[chosen]);
      }
    });
  }
})();
