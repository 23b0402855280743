import { part, Refusal } from "./server";

// The steps of a turn stand below its row while it is open: rows as others are. A turn that is open stays so while the log is renewed.
const opened = new Map<string, HTMLElement[]>(); // by the turn's name

// steps lets the turns of a log be opened.
export function steps(): void {
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>("button[data-steps]");
    if (button) void open(button, button.getAttribute("aria-expanded") !== "true");
  });
}

// openChosen opens the chosen row, or closes it, or the one that its step is of.
export function openChosen(wanted: boolean): void {
  let row = document.querySelector(".row a[aria-current]")?.closest<HTMLElement>(".row") ?? null;
  if (!wanted) {
    while (row?.classList.contains("step")) row = row.previousElementSibling as HTMLElement | null;
  }
  const button = row?.querySelector<HTMLButtonElement>("button[data-steps]");
  if (button) void open(button, wanted);
}

async function open(button: HTMLButtonElement, wanted: boolean): Promise<void> {
  const row = button.closest<HTMLElement>(".row")!;
  const name = row.dataset.id!;
  if (wanted === (button.getAttribute("aria-expanded") === "true")) return;
  if (!wanted) {
    const list = opened.get(name) ?? [];
    opened.delete(name);
    button.setAttribute("aria-expanded", "false");
    if (list.some((step) => step.querySelector("a[aria-current]"))) row.dispatchEvent(new CustomEvent("choose", { bubbles: true }));
    for (const step of list) step.remove();
  } else {
    button.setAttribute("aria-expanded", "true");
    opened.set(name, []);
    await fill(row, button);
  }
  document.dispatchEvent(new Event("rewind:rows"));
}

async function fill(row: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const name = row.dataset.id!;
  const got = await part(button.dataset.steps!, "steps").catch((error: unknown) => {
    if (!(error instanceof Refusal)) return null; // no answer: that is said above
    const why = document.createElement("li");
    why.append(error.words);
    return why;
  });
  const old = opened.get(name);
  if (!got || !old || !row.isConnected) return;
  const chosen = old.find((step) => step.querySelector("a[aria-current]"))?.dataset.id;
  const focused = old.find((step) => step.contains(document.activeElement))?.dataset.id;
  for (const step of old) step.remove();
  const list = [...(got instanceof HTMLElement ? [got] : (got.children as Iterable<Element>))] as HTMLElement[];
  for (const step of list) if (step.dataset.id === chosen) step.querySelector("a")?.setAttribute("aria-current", "true");
  opened.set(name, list);
  row.after(...list);
  if (focused) list.find((step) => step.dataset.id === focused)?.querySelector("a")?.focus({ preventScroll: true });
}

// lift takes the steps out of the log, and gives what puts them below the rows that are there then. A turn that has gone on since shows
// its new steps, too, and so does every one if anew.
export function lift(rows: HTMLElement, anew: boolean): () => void {
  const words = new Map<string, string | null>();
  for (const [name, list] of opened) {
    words.set(name, rows.querySelector(`[data-id="${CSS.escape(name)}"] [data-steps]`)?.textContent ?? null);
    for (const step of list) step.remove();
  }
  return () => {
    for (const [name, list] of opened) {
      const row = rows.querySelector<HTMLElement>(`[data-id="${CSS.escape(name)}"]`);
      const button = row?.querySelector<HTMLButtonElement>("[data-steps]");
      if (!row || !button) {
        opened.delete(name);
        continue;
      }
      button.setAttribute("aria-expanded", "true");
      row.after(...list);
      if (anew || button.textContent !== words.get(name)) void fill(row, button);
    }
  };
}
