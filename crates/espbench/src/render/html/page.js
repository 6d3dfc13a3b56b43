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

  const text = (cell) => cell ? cell.textContent.trim() : "";
  const number = (words) => { const n = parseFloat(words.replace(/[^0-9.eE+-]/g, "")); return isNaN(n) ? null : n; };
  const csv = (table) => [...table.rows].filter((row) => !row.hidden)
    .map((row) => [...row.cells].map((cell) => '"' + text(cell).replace(/"/g, '""') + '"').join(",")).join("\n");
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
})();
