// Side by side: the lines of a diff in two columns. The rows are the same; how they are laid out is remembered.
const key = "rewind.split";

export function split(): void {
  if (localStorage.getItem(key) === "1") apply(document, true);
  document.addEventListener("click", (event) => {
    if ((event.target as Element).closest("[data-split]")) toggle();
  });
  new MutationObserver(() => {
    if (localStorage.getItem(key) === "1") apply(document, true);
  }).observe(document.getElementById("main")!, { childList: true, subtree: true });
}

export function toggle(): void {
  const on = localStorage.getItem(key) !== "1";
  localStorage.setItem(key, on ? "1" : "0");
  apply(document, on);
}

function apply(root: ParentNode, on: boolean): void {
  for (const table of root.querySelectorAll<HTMLTableElement>("table.diff")) {
    if (on === table.classList.contains("split")) continue;
    if (on) beside(table);
    else table.replaceWith(originals.get(table)!);
  }
  for (const button of root.querySelectorAll("[data-split]")) button.setAttribute("aria-pressed", String(on));
}

const originals = new WeakMap<HTMLTableElement, HTMLTableElement>();

// beside makes the table of two columns: runs of removed and added lines stand next to each other.
function beside(table: HTMLTableElement): void {
  const out = table.cloneNode(false) as HTMLTableElement;
  out.classList.add("split");
  const columns = document.createElement("colgroup");
  for (const name of ["n", "", "n", ""]) columns.append(Object.assign(document.createElement("col"), { className: name }));
  out.append(columns);
  const body = out.createTBody();
  let minus: HTMLTableRowElement[] = [];
  let plus: HTMLTableRowElement[] = [];
  const flush = (): void => {
    for (let i = 0; i < Math.max(minus.length, plus.length); i++) pair(body, minus[i], plus[i]);
    minus = [];
    plus = [];
  };
  for (const row of table.rows) {
    if (row.className === "minus") {
      if (plus.length) flush();
      minus.push(row);
    } else if (row.className === "plus") plus.push(row);
    else {
      flush();
      if (row.className === "head") {
        const head = row.cloneNode(true) as HTMLTableRowElement;
        head.cells[0].colSpan = 4;
        body.append(head);
      } else pair(body, row, row);
    }
  }
  flush();
  originals.set(out, table);
  table.replaceWith(out);
}

function pair(body: HTMLTableSectionElement, old?: HTMLTableRowElement, now?: HTMLTableRowElement): void {
  const row = body.insertRow();
  for (const [from, number] of [[old, 0], [now, 1]] as const) {
    for (const at of [number, 2]) {
      const cell = from ? (from.cells[at].cloneNode(true) as HTMLTableCellElement) : document.createElement("td");
      cell.classList.add(from ? from.className : "none", number ? "right" : "left");
      row.append(cell);
    }
  }
}
