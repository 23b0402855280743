import { base, project } from "./server";
import { shown, step } from "./log";
import { toggle } from "./split";
import { act, notice } from "./acts";
import { paragraph } from "./ask";
import { keyed, type Pressed } from "./pure/keymap";
import { openChosen } from "./steps";
import { compare } from "./versus";

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
  d: () => document.querySelector<HTMLAnchorElement>("main a[data-since]")?.click(),
  c: compare,
  s: toggle,
  "/": () => document.querySelector<HTMLInputElement>(".find input")?.focus(),
  l: () => go(home),
  t: () => go(`${home}/tree`),
  a: () => go(`${home}/lanes`),
  r: () => go(`${home}/ops`),
  "?": () => document.querySelector<HTMLDialogElement>("dialog.keys")?.showModal(),
};

export function keys(): void {
  document.querySelector("[data-keys]")?.addEventListener("click", () => actions["?"]?.());
  const names = new Set(Object.keys(actions));
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const pressed: Pressed = {
      key: event.key,
      held: event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey,
      on: target.matches("input, textarea, select, [contenteditable]")
        ? "text"
        : target.matches("a, button, summary")
          ? "control"
          : "page",
    };
    const around = {
      dialog: document.querySelector("dialog[open]") !== null,
      project: project !== "",
      rows: document.querySelector(".rows") !== null,
    };
    const name = keyed(pressed, around, names);
    if (name === null) return;
    if (name === "leave") {
      target.blur();
      return;
    }
    event.preventDefault();
    actions[name]?.();
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
