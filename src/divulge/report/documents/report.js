"use strict";
// Sorting, filtering, unfolding what a link points to. Without this script every table is shown whole.
(() => {
  const wanted = new URLSearchParams(location.hash.slice(1));

  const unfold = (element) => {
    for (let fold = element && element.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      fold.open = true;
    }
  };
  const follow = () => {
    const target = document.getElementById(location.hash.slice(1));
    unfold(target);
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  if (document.getElementById(location.hash.slice(1))) follow();

  const value = (cell) => {
    const text = cell.textContent.trim();
    const number = parseFloat(text.replace(/^[<>]/, "").replace(/,/g, ""));
    return { text, number: Number.isNaN(number) ? null : number };
  };

  const sort = (table, th, order) => {
    const column = [...th.parentNode.children].indexOf(th);
    const numeric = th.classList.contains("n");
    const sign = order === "descending" ? -1 : 1;
    for (const head of table.querySelectorAll("tr.group")) head.hidden = true;
    const rows = [...table.querySelectorAll("tbody > tr:not(.group)")].map((row) => [value(row.cells[column]), row]);
    rows.sort(([a], [b]) => {
      if (!numeric) return sign * a.text.localeCompare(b.text, "en", { numeric: true });
      if (a.number === null || b.number === null) return (a.number === null) - (b.number === null);
      return sign * (a.number - b.number);
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
    for (const other of th.parentNode.children) other.removeAttribute("aria-sort");
    th.setAttribute("aria-sort", order);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    for (const th of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...th.childNodes);
      th.append(button);
      button.addEventListener("click", () => {
        const first = th.classList.contains("n") ? "descending" : "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        sort(table, th, th.getAttribute("aria-sort") === first ? other : first);
      });
    }
  }

  const tools = document.querySelector("form.tools");
  if (!tools) return;
  const table = tools.parentNode.querySelector("table.sortable");
  const input = tools.elements.filter;
  const select = tools.elements.verdict;
  const output = tools.querySelector("output");
  const rows = [...table.tBodies[0].rows];
  const texts = rows.map((row) => row.textContent.toLowerCase().replace(/\s+/g, " "));
  const verdicts = rows.map((row) => row.cells[row.cells.length - 1].textContent.trim());

  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = select ? select.value : "";
    let shown = 0;
    rows.forEach((row, i) => {
      const fits = words.every((w) => texts[i].includes(w)) && (!verdict || verdicts[i] === verdict);
      row.hidden = !fits;
      shown += fits;
    });
    output.textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
  };

  tools.hidden = false;
  tools.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", filter);
  if (select) select.addEventListener("change", filter);
  if (["filter", "verdict", "sort"].some((key) => wanted.get(key))) unfold(table);
  // a link can carry a view: #filter=income&verdict=cannot tell&sort=risk&order=ascending
  if (wanted.has("filter")) input.value = wanted.get("filter");
  if (select && wanted.has("verdict")) select.value = wanted.get("verdict");
  filter();
  const th = [...table.tHead.rows[0].cells].find((cell) => cell.dataset.k === wanted.get("sort"));
  if (th) sort(table, th, wanted.get("order") === "ascending" ? "ascending" : "descending");
})();
