import { failure, Place, skeleton } from "./ask";
import { part } from "./server";

// The steps of a turn stand below its row while it is open: rows as others are. A turn that is open stays so while the
// log is renewed.
const opened = new Set<string>(); // names of turns

// below are the steps that stand below a turn's row.
function below(row: Element): HTMLElement[] {
  const out: HTMLElement[] = [];
  for (let next = row.nextElementSibling; next?.classList.contains("step"); next = next.nextElementSibling)
    out.push(next as HTMLElement);
  return out;
}

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
    const list = below(row);
    opened.delete(name);
    button.setAttribute("aria-expanded", "false");
    if (list.some((step) => step.querySelector("a[aria-current]")))
      row.dispatchEvent(new CustomEvent("choose", { bubbles: true }));
    for (const step of list) step.remove();
  } else {
    button.setAttribute("aria-expanded", "true");
    opened.add(name);
    await fill(row, button);
  }
  document.dispatchEvent(new Event("rewind:rows"));
}

async function fill(row: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const name = row.dataset.id!;
  const put = (list: HTMLElement[]): void => {
    const old = below(row);
    const chosen = old.find((step) => step.querySelector("a[aria-current]"))?.dataset.id;
    const focused = old.find((step) => step.contains(document.activeElement))?.dataset.id;
    for (const step of old) step.remove();
    for (const step of list) {
      step.classList.add("step");
      if (step.dataset.id === chosen) step.querySelector("a")?.setAttribute("aria-current", "true");
    }
    row.after(...list);
    if (focused)
      list
        .find((step) => step.dataset.id === focused)
        ?.querySelector("a")
        ?.focus({ preventScroll: true });
  };
  const item = (what: HTMLElement): HTMLElement => {
    const out = document.createElement("li");
    out.append(what);
    return out;
  };
  const place = new Place({
    busy: (on) => {
      button.ariaBusy = String(on);
      if (on && !below(row).length) put([item(skeleton())]);
    },
    failed: (words, again) => {
      if (opened.has(name)) put([item(failure(words, again))]);
    },
  });
  const got = await place.ask(
    (signal) => part(button.dataset.steps!, "steps", signal),
    () => void fill(row, button),
  );
  if (got && opened.has(name) && row.isConnected) put([...got.children] as HTMLElement[]);
}

// lift takes the steps out of the log, and gives what puts them below the rows that are there then. A turn that has
// gone on since shows its new steps, too, and so does every one if anew.
export function lift(rows: HTMLElement, anew: boolean): () => void {
  const words = new Map<string, string | null>();
  const lists = new Map<string, HTMLElement[]>();
  for (const name of opened) {
    const row = rows.querySelector(`[data-id="${CSS.escape(name)}"]`);
    words.set(name, row?.querySelector("[data-steps]")?.textContent ?? null);
    lists.set(name, row ? below(row) : []);
    for (const step of lists.get(name)!) step.remove();
  }
  return () => {
    for (const [name, list] of lists) {
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
