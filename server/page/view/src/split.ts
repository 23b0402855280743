import { columns } from "./pure/columns";

// Side by side: the lines of a diff in two columns. The lines are the same; how they are laid out is remembered.
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
  for (const diff of root.querySelectorAll<HTMLElement>(".diff")) {
    const lines = String(diff.childElementCount);
    if (on ? diff.dataset.laid === lines : diff.dataset.laid === undefined) continue;
    one(diff);
    if (on) beside(diff);
  }
  for (const button of root.querySelectorAll("[data-split]")) button.setAttribute("aria-pressed", String(on));
}

// one puts the lines of a diff into one column.
function one(diff: HTMLElement): void {
  for (const twin of diff.querySelectorAll(".twin")) twin.remove();
  for (const line of diff.children) (line as HTMLElement).style.gridArea = "";
  diff.classList.remove("split");
  delete diff.dataset.laid;
}

// beside puts runs of removed and added lines next to each other. An unchanged line stands on both sides.
function beside(diff: HTMLElement): void {
  const lines = [...diff.children] as HTMLElement[];
  columns(lines.map((line) => line.tagName)).forEach((cell, i) => {
    const line = lines[i]!;
    lay(line, cell.row, cell.column);
    if (!cell.twin) return;
    const twin = line.cloneNode(true) as HTMLElement;
    twin.className = "twin";
    twin.ariaHidden = "true";
    line.after(twin);
    lay(twin, cell.row, "2");
  });
  diff.classList.add("split");
  diff.dataset.laid = String(diff.childElementCount);
}

function lay(line: HTMLElement, row: number, column: string): void {
  line.style.gridRow = String(row);
  line.style.gridColumn = column;
}
