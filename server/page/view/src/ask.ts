import { Newest } from "./pure/newest";
import { Refusal } from "./server";

// skeletonAfter is view.SkeletonAfter, in milliseconds.
const skeletonAfter = 100;

// Shows is how a place of the page shows what becomes of a request.
export interface Shows {
  busy(on: boolean): void; // the answer takes longer than a moment; false: it is there, or will not come
  // answered: the words are the server's
  failed(words: DocumentFragment, again: HTMLButtonElement, answered: boolean): void;
}

// Place is where answers go. The newest request counts.
export class Place {
  private readonly newest = new Newest();

  constructor(private readonly shows: Shows) {}

  // ask gives the answer; null: there is none, which the place shows with a button that calls again, or another request
  // came meanwhile.
  async ask(
    get: (signal: AbortSignal) => Promise<DocumentFragment>,
    again: () => void,
  ): Promise<DocumentFragment | null> {
    const answer = await this.newest.ask(get, skeletonAfter, () => this.shows.busy(true));
    if (!answer) return null;
    this.shows.busy(false);
    if ("got" in answer) return answer.got;
    this.shows.failed(wordsOf(answer.error), againButton(again), answer.error instanceof Refusal);
    return null;
  }
}

// wordsOf says why there is no answer.
function wordsOf(error: unknown): DocumentFragment {
  if (error instanceof Refusal) return error.words;
  return paragraph("The daemon does not answer.");
}

function againButton(again: () => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "again";
  button.textContent = "Try again";
  button.addEventListener("click", again);
  return button;
}

export function paragraph(words: string): DocumentFragment {
  const out = document.createDocumentFragment();
  out.append(Object.assign(document.createElement("p"), { textContent: words }));
  return out;
}

// failure is what stands in place of an answer that did not come.
export function failure(words: DocumentFragment, again: HTMLButtonElement): HTMLElement {
  const box = document.createElement("section");
  box.className = "failure";
  box.setAttribute("role", "alert");
  box.append(words, again);
  return box;
}

// skeleton is the outline of what is to come.
export function skeleton(): HTMLElement {
  const box = document.createElement("div");
  box.className = "skeleton";
  for (let i = 0; i < 5; i++) box.append(document.createElement("p"));
  return box;
}
