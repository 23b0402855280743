import { base, project, Refusal, send } from "./server";

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
    const { act: verb, ...words } = button.dataset;
    void act({ verb: verb!, ...words });
  });
  sheet().addEventListener("change", (event) => {
    // Another choice is another plan.
    if ((event.target as Element).matches("[data-choice]")) void act(wish());
  });
  sheet().addEventListener("submit", (event) => {
    const button = (event as SubmitEvent).submitter as HTMLButtonElement | null;
    if (button?.value !== "do") return;
    event.preventDefault();
    void carryOut(button);
  });
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLElement>("[data-copy]");
    if (!button) return;
    void navigator.clipboard.writeText(button.dataset.copy!).then(() => {
      button.textContent = "Copied";
    });
  });
}

// act shows what a wish would do.
export async function act(wish: Wish): Promise<void> {
  try {
    const shown = await send(`${base}/p/${project}/plan`, wish);
    sheet().replaceChildren(shown);
    if (!sheet().open) sheet().showModal();
  } catch (error) {
    refused(error);
  }
}

// wish is what the sheet's form says.
function wish(): Wish {
  const said = new FormData(sheet().querySelector("form")!);
  const out: Wish = { verb: "" };
  for (const [name, value] of said) out[name] = String(value);
  return out;
}

async function carryOut(button: HTMLButtonElement): Promise<void> {
  button.disabled = true;
  button.textContent = "Doing it…";
  try {
    const done = await send(`${base}/p/${project}/do`, wish());
    if (done.querySelector("form")) {
      sheet().replaceChildren(done); // something changed meanwhile: this is what would be done now
      return;
    }
    sheet().close();
    notice(done);
    document.dispatchEvent(new Event("rewind:changed"));
  } catch (error) {
    sheet().close();
    refused(error);
  }
}

function refused(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
  notice(error.words, true);
}

export function notice(words: DocumentFragment, bad = false): void {
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
