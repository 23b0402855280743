import { failure, paragraph, Place, skeleton } from "./ask";
import { more } from "./more";
import { base, project, send, text } from "./server";

// What is asked for: a verb with its words; the server knows what each needs.
export interface Wish {
  verb: string;
  [word: string]: string | boolean | number | undefined;
}

const sheet = (): HTMLDialogElement => document.querySelector<HTMLDialogElement>("dialog.sheet")!;

// acts makes every [data-act] ask what it would do, in a sheet, before it does it.
export function acts(): void {
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLElement>("[data-act]");
    if (!button) return;
    event.preventDefault();
    button.closest<HTMLElement>("[popover]")?.hidePopover();
    const { act: verb, ...words } = button.dataset;
    void act({ verb: verb!, ...words });
  });
  sheet().addEventListener("change", (event) => {
    if (!(event.target as Element).matches("[data-choice]")) return;
    // Another choice is another plan: what the sheet shows until that is there is not done.
    const wanted = wish();
    doButton()?.setAttribute("disabled", "");
    void act(wanted);
  });
  sheet().addEventListener("keydown", onSheet);
  sheet().addEventListener("submit", (event) => {
    const button = (event as SubmitEvent).submitter as HTMLButtonElement | null;
    if (button?.value !== "do") return;
    event.preventDefault();
    void carryOut(sheet().querySelector("form")!, wish());
  });
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLElement>("[data-copy], [data-copy-from]");
    if (button) void copy(button);
  });
}

// copy puts what a button has, or what is at its address, where it can be pasted.
async function copy(button: HTMLElement): Promise<void> {
  const { copy: words, copyFrom } = button.dataset;
  try {
    await navigator.clipboard.writeText(words ?? (await text(copyFrom!)));
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not copied";
  }
}

function doButton(): HTMLButtonElement | null {
  return sheet().querySelector<HTMLButtonElement>("button[value=do]");
}

// put shows something in the sheet, from its beginning. The focus is on the sheet, or where the text is that it asks
// for.
function put(what: Node): void {
  const had = sheet().contains(document.activeElement) ? (document.activeElement as HTMLInputElement) : null;
  sheet().replaceChildren(what);
  if (!sheet().open) sheet().showModal();
  const same = had?.name
    ? [...sheet().querySelectorAll<HTMLInputElement>(`[name="${had.name}"]`)].find((one) => one.value === had.value)
    : null;
  (same ?? sheet().querySelector<HTMLElement>("[autofocus]") ?? sheet()).focus({ preventScroll: true });
  more(sheet());
}

// onSheet is what keys do while the sheet itself has the focus: Enter does what it says, in a field, too; others scroll
// it.
function onSheet(event: KeyboardEvent): void {
  const field = event.key === "Enter" && (event.target as Element).matches("input");
  if (event.target !== sheet() && !field) return;
  const body = sheet().querySelector<HTMLElement>(".body");
  const page = (body?.clientHeight ?? 0) - 40;
  const by: Record<string, number> = {
    ArrowDown: 40,
    ArrowUp: -40,
    PageDown: page,
    " ": page,
    PageUp: -page,
    Home: -1e6,
    End: 1e6,
  };
  const far = by[event.key];
  if (event.key === "Enter") doButton()?.click();
  else if (far) body?.scrollBy(0, far);
  else return;
  event.preventDefault();
}

// framed is a sheet that is none yet: words, and a way out.
function framed(heading: string, ...what: Node[]): HTMLFormElement {
  const form = document.createElement("form");
  form.method = "dialog";
  const [head, foot] = [document.createElement("header"), document.createElement("footer")];
  const title = Object.assign(document.createElement("h2"), { id: "sheet-title", textContent: heading });
  const words = Object.assign(document.createElement("div"), { id: "sheet-words", className: "body" });
  words.append(...what);
  const end = Object.assign(document.createElement("p"), { className: "acts end" });
  end.append(Object.assign(document.createElement("button"), { value: "cancel", textContent: "Close" }));
  head.append(title);
  foot.append(end);
  form.append(head, words, foot);
  return form;
}

let previewing = false; // the outline of a sheet is shown
const plans = new Place({
  busy: (on) => {
    const choosing = sheet().open && sheet().querySelector("[data-choice]"); // who chooses stays where they are
    if (on && !choosing) {
      previewing = true;
      put(framed("Previewing…", skeleton()));
    }
    sheet().ariaBusy = String(on);
  },
  failed: (words, again) => put(framed("There is no preview", failure(words, again))),
});

// act shows what a wish would do.
export async function act(wish: Wish): Promise<void> {
  const open = sheet().open;
  previewing = false;
  const shown = await plans.ask(
    (signal) => send(`${base}/p/${project}/plan`, wish, signal),
    () => void act(wish),
  );
  if ((open || previewing) && !sheet().open) return; // it was closed meanwhile: nobody waits for it
  if (shown) put(shown);
}

// wish is what the sheet's form says.
function wish(): Wish {
  const said = new FormData(sheet().querySelector("form")!);
  const out: Wish = { verb: "" };
  for (const [name, value] of said) {
    const several = name !== "verb" && name in out; // boxes of one name
    out[name] = several ? `${out[name]},${value}` : String(value);
  }
  return out;
}

const longAfter = 5000; // milliseconds

// carryOut does what a form says. It has one id, however often it is tried: the server does it once. Where the sheet
// was closed meanwhile, what became of it is told beside.
async function carryOut(form: HTMLFormElement, wanted: Wish): Promise<void> {
  const id = (form.dataset.deed ??= crypto.randomUUID());
  const button = form.querySelector<HTMLButtonElement>("button[value=do]")!;
  const words = (button.dataset.words ??= button.textContent!);
  const tell = (what: Node | null): void => form.querySelector(".fate")!.replaceChildren(...(what ? [what] : []));
  const here = (): boolean => form.isConnected && sheet().open;
  tell(null);
  button.disabled = true;
  button.textContent = "Doing it…";
  const long = window.setTimeout(
    () => tell(paragraph("This takes long. It goes on, also where this sheet is closed.")),
    longAfter,
  );
  const doing = new Place({
    busy: (on) => {
      form.ariaBusy = String(on);
    },
    failed: (why, again, answered) => {
      if (!answered) why.append(paragraph("It is not known whether it was done. To try again does not do it twice."));
      if (here()) tell(failure(why, again));
      else notice(failure(why, again), true);
    },
  });
  const done = await doing.ask(
    () => send(`${base}/p/${project}/do`, { ...wanted, id }, null),
    () => void carryOut(form, wanted),
  );
  window.clearTimeout(long);
  button.disabled = false;
  button.textContent = words;
  if (!done) return;
  if (done.querySelector("form")) {
    // something changed meanwhile: this is what would be done now
    if (here()) put(done);
    else notice(paragraph("It was not done: something had changed since it was shown."), true);
    return;
  }
  if (form.isConnected) sheet().close();
  for (const old of document.querySelectorAll(".notice .failure")) old.closest(".notice")!.remove();
  notice(done);
  document.dispatchEvent(new Event("rewind:changed"));
}

export function notice(words: Node, bad = false): void {
  const box = document.createElement("div");
  box.className = bad ? "notice bad" : "notice";
  box.append(words);
  const close = document.createElement("button");
  close.className = "plain close";
  close.setAttribute("aria-label", "Close");
  close.textContent = "×";
  close.addEventListener("click", () => box.remove());
  box.append(close);
  const all = document.querySelector(".notices")!;
  all.append(box);
  while (all.children.length > 3) all.firstElementChild!.remove();
}
