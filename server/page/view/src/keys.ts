import { base, project } from "./server";
import { shown, step } from "./log";
import { toggle } from "./split";
import { act, notice } from "./acts";
import { paragraph } from "./ask";
import { openChosen } from "./steps";

const home = `${base}/p/${project}`;

// Each key of the sheet that '?' shows.
const actions: Record<string, () => unknown> = {
  j: () => step(1),
  ArrowDown: () => step(1),
  k: () => step(-1),
  ArrowUp: () => step(-1),
  ArrowRight: () => openChosen(true),
  ArrowLeft: () => openChosen(false),
  "[": () => step(1),
  "]": () => step(-1),
  Enter: () => document.querySelector<HTMLAnchorElement>(".row a[aria-current]")?.click(),
  g: () => press("checkout", 0),
  b: () => press("checkout", 1),
  f: () => press("fork", 0),
  u: () => act({ verb: "undo-restore" }),
  s: toggle,
  "/": () => document.querySelector<HTMLInputElement>(".find input")?.focus(),
  l: () => go(home),
  t: () => go(`${home}/tree`),
  a: () => go(`${home}/lanes`),
  r: () => go(`${home}/ops`),
  "?": () => document.querySelector<HTMLDialogElement>("dialog.keys")?.showModal(),
};

export function keys(): void {
  document.querySelector("[data-keys]")?.addEventListener("click", actions["?"]);
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (
      event.defaultPrevented ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      document.querySelector("dialog[open]")
    )
      return;
    if (target.matches("input, textarea, select, [contenteditable]")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (event.key === "Enter" && target.matches("a, button, summary")) return;
    const action = actions[event.key];
    if (!action || (event.key.startsWith("Arrow") && !document.querySelector(".rows"))) return;
    if (!project && event.key !== "?" && event.key !== "/") return;
    event.preventDefault();
    action();
  });
}

// press presses a button of the moment that is shown, which is that of the chosen row.
async function press(verb: string, which: number): Promise<void> {
  await shown();
  const button = document.querySelectorAll<HTMLButtonElement>(`#main header .acts [data-act="${verb}"]`)[which];
  if (button) button.click();
  else notice(paragraph("Nothing is shown that this can be done with."), true);
}

function go(path: string): void {
  location.assign(path);
}
