// What differs between two moments that a person chooses, one after the other. The first one is kept while they look
// for the other, in other views of this tab, too.
import { project } from "./server";
import { shown } from "./log";

const key = `rewind.versus.${project}`;

interface Side {
  id: string;
  words: string;
}

function first(): Side | null {
  return JSON.parse(sessionStorage.getItem(key) ?? "null") as Side | null;
}

// chosen is the moment that is shown.
function chosen(): Side | null {
  const button = document.querySelector<HTMLElement>("main [data-versus]");
  return button ? { id: button.dataset.versus!, words: button.dataset.words ?? "" } : null;
}

export function versus(): void {
  const bar = document.querySelector<HTMLElement>(".versus");
  if (!bar?.dataset.diff) return;
  draw(bar);
  document.addEventListener("click", (event) => {
    const target = event.target as Element;
    const link = target.closest<HTMLAnchorElement>(".versus a");
    const button = target.closest(".versus button");
    if (target.closest("main [data-versus]")) mark(bar);
    else if (target.closest("[data-rows] .row")) draw(bar);
    else if (button) forget(bar);
    else if (link) {
      event.preventDefault();
      void open(bar);
    }
  });
}

// compare is what the key does: the chosen moment is the one, or the other.
export async function compare(): Promise<void> {
  const bar = document.querySelector<HTMLElement>(".versus");
  await shown();
  if (!bar) return;
  if (first()) await open(bar);
  else mark(bar);
}

function mark(bar: HTMLElement): void {
  const side = chosen();
  if (!side) return;
  sessionStorage.setItem(key, JSON.stringify(side));
  draw(bar);
}

function forget(bar: HTMLElement): void {
  sessionStorage.removeItem(key);
  draw(bar);
}

async function open(bar: HTMLElement): Promise<void> {
  await shown();
  const [one, other] = [first(), chosen()];
  if (!one || !other || one.id === other.id) {
    bar.querySelector("p")!.lastChild!.textContent = " with: choose another moment first";
    return;
  }
  forget(bar);
  location.assign(`${bar.dataset.diff!}?from=${one.id}&to=${other.id}`);
}

function draw(bar: HTMLElement): void {
  const side = first();
  bar.hidden = side === null;
  bar.querySelector("b")!.textContent = side?.words ?? "";
  bar.querySelector("p")!.lastChild!.textContent = " with the moment that is chosen";
}
