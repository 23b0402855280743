import { notice } from "./acts";
import { failure, Place } from "./ask";
import { hold } from "./lanes";
import { more } from "./more";
import { again, beside as besideOf } from "./pure/address";
import { beyond } from "./pure/list";
import { Pace } from "./pure/pace";
import { base, part, project } from "./server";
import { lift } from "./steps";

// live shows what happens meanwhile: the log gets its new rows, drawings are drawn again. What a person is reading
// stays where it is.
export function live(): void {
  if (!project) return;
  const pace = new Pace();
  let due = 0;
  const soon = (event?: unknown): void => {
    pace.happened(event);
    if (due) return;
    due = window.setTimeout(async () => {
      due = 0;
      const { beside, own } = pace.take(Date.now());
      await renew(beside, own);
      if (pace.left() && !due) soon("checkpoint");
    }, pace.wait(Date.now()));
  };
  document.addEventListener("rewind:changed", () => {
    pace.mine();
    soon();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) soon();
  });

  const offline = document.querySelector<HTMLElement>(".offline")!;
  let since = document.getElementById("main")!.dataset.since ?? "";
  const listen = (): void => {
    const events = new EventSource(`${base}/p/${project}/live?since=${since}`);
    events.onopen = () => {
      if (!offline.hidden) soon();
      offline.hidden = true;
    };
    events.onmessage = (event) => {
      since = event.lastEventId; // behind it, if a new one has to be made
      if (event.data !== '"ready"') soon(JSON.parse(event.data as string));
    };
    events.onerror = () => {
      offline.hidden = false;
      if (events.readyState === EventSource.CLOSED) void refused(); // not only gone
    };
  };
  // refused tries again, unless it is this browser that is refused.
  const refused = async (): Promise<void> => {
    const answer = await fetch(`${base}/projects`, { method: "HEAD" }).catch(() => null);
    if (answer?.status !== 401) {
      window.setTimeout(listen, 3000);
      return;
    }
    for (const words of offline.children) (words as HTMLElement).hidden = !(words as HTMLElement).hidden;
  };
  listen();
}

// meanwhile and aside are where what has happened is asked for. That the daemon does not answer is said above; what it
// answers instead is told once.
const meanwhile = new Place({ busy: () => undefined, failed: untold });
const told = new Place({ busy: () => undefined, failed: untold });
const aside = new Place({ busy: () => undefined, failed: untold });

function untold(words: DocumentFragment, again: HTMLButtonElement, answered: boolean): void {
  if (!answered || document.querySelector(".notice .untold")) return;
  const box = failure(words, again);
  box.classList.add("untold");
  again.addEventListener("click", () => box.closest(".notice")?.remove());
  notice(box, true);
}

async function renew(beside: boolean, own: boolean): Promise<void> {
  if (document.hidden || document.querySelector("dialog[open], [popover]:popover-open")) return;
  void renewNotices();
  const at = document.getElementById("main")!.dataset.at;
  if (at === "timeline") await renewLog(beside, own);
  else if (at === "tree" || at === "lanes" || at === "ops") {
    const main = document.getElementById("main")!;
    const top = main.scrollTop;
    const here = again(location.href, main.querySelectorAll(".tree > li").length);
    const fresh = await meanwhile.ask(
      (signal) => part(here, "main", signal),
      () => void renew(beside, own),
    );
    if (!fresh) return;
    const focus = (document.activeElement as HTMLElement | null)?.getAttribute("href");
    const chosen = new Set([...main.querySelectorAll<HTMLInputElement>("input:checked")].map((box) => box.value));
    const put = hold();
    main.replaceChildren(fresh);
    put();
    for (const box of main.querySelectorAll<HTMLInputElement>("input[name=side]")) box.checked = chosen.has(box.value);
    main.querySelector("input:checked")?.dispatchEvent(new Event("change", { bubbles: true }));
    main.scrollTop = top;
    more(main);
    if (focus) main.querySelector<HTMLElement>(`a[href="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }
}

// renewNotices removes what is told of acts that were undone since, wherever that was done.
async function renewNotices(): Promise<void> {
  const buttons = [...document.querySelectorAll<HTMLElement>('.notice [data-act="undo-restore"]')];
  if (!buttons.length) return;
  const can = await told.ask(
    (signal) => part(`${base}/p/${project}/ops`, "undoable", signal),
    () => void renewNotices(),
  );
  if (!can) return;
  for (const button of buttons) {
    if (!can.querySelector(`[data-seq="${button.dataset.name}"]`)) button.closest(".notice")?.remove();
  }
}

// renewLog puts the newest rows before those that are there. Which one is chosen, and what is in sight, stays; who went
// somewhere (own) sees where that is.
async function renewLog(beside: boolean, own: boolean): Promise<void> {
  const rows = document.querySelector<HTMLElement>("[data-rows]")!;
  const fresh = await meanwhile.ask(
    (signal) => part(location.href, "log", signal),
    () => void renewLog(beside, own),
  );
  if (!fresh) return;
  // As of now.
  const chosen = rows.querySelector<HTMLElement>("a[aria-current]")?.closest<HTMLElement>(".row")?.dataset.id;
  if (beside) void renewSide();
  const log = rows.closest<HTMLElement>(".log")!;
  const heads = (of: ParentNode): Element[] => [...of.querySelectorAll(".banner, section.ahead, .log > .head")];
  const words = (of: ParentNode): string =>
    heads(of)
      .map((head) => head.outerHTML)
      .join();
  if (words(log) !== words(fresh)) {
    for (const head of heads(log)) head.remove();
    log.prepend(...heads(fresh));
  }
  renewParted(log.querySelector("[data-parted]")!, fresh.querySelector("[data-parted]")!);
  const anchor = [...rows.children].find(
    (row) => row.getBoundingClientRect().top >= log.getBoundingClientRect().top,
  ) as HTMLElement | undefined;
  const before = anchor?.getBoundingClientRect().top ?? 0;
  const focused = document.activeElement?.closest<HTMLElement>(".row")?.dataset.id;
  const list = fresh.querySelector<HTMLElement>("[data-rows]")!;
  const putSteps = lift(rows, own);
  // Older rows that are there stay behind the last of the fresh ones, with the link to what is older still.
  const old = [...rows.children] as HTMLElement[];
  const rest = beyond(names(old), names([...list.querySelectorAll<HTMLElement>(".row")]));
  if (rest) {
    list.querySelector(".older")?.remove();
    list.append(...old.slice(old.length - rest.length));
  }
  rows.replaceChildren(...list.children);
  putSteps();
  for (const link of rows.querySelectorAll<HTMLElement>(".row a")) {
    const id = link.closest<HTMLElement>(".row")!.dataset.id;
    if (id === chosen) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    if (id === focused) link.focus({ preventScroll: true });
  }
  if (anchor && log.scrollTop > 0) {
    const same = rows.querySelector<HTMLElement>(`[data-id="${CSS.escape(anchor.dataset.id ?? "")}"]`);
    if (same) log.scrollTop += same.getBoundingClientRect().top - before;
  }
  if (rows.children.length) log.querySelector(".empty")?.remove();
  // What is chosen is what is shown: a row that has gone is no longer, and what did not come is asked for again.
  const still = rows.querySelector("a[aria-current]")?.closest(".row");
  const pane = document.getElementById("moment")!;
  const shows = pane.querySelector("[data-moment]") !== null || pane.ariaBusy === "true";
  const show = own
    ? rows.querySelector(".row.here:not(.step)")
    : shows && (still || !chosen)
      ? null
      : (still ?? rows.querySelector(".row"));
  show?.dispatchEvent(new CustomEvent("choose", { bubbles: true, detail: "stay" }));
  more(rows);
  document.dispatchEvent(new Event("rewind:rows"));
}

// names are those of a log's rows; what is no row has none.
function names(rows: HTMLElement[]): string[] {
  return rows.map((row) => row.dataset.id ?? "");
}

// renewParted shows what others went on with from where a fork parted. What is open stays open.
function renewParted(old: HTMLElement, fresh: HTMLElement): void {
  const was = [...old.querySelectorAll("details")];
  fresh.querySelectorAll("details").forEach((one, i) => {
    one.open = was[i]?.open ?? one.open;
  });
  if (old.innerHTML !== fresh.innerHTML) old.replaceWith(fresh);
}

// renewSide shows the sessions beside the log as they are now, as many as were there.
async function renewSide(): Promise<void> {
  const list = document.querySelector<HTMLElement>(".branches");
  if (!list || list.offsetParent === null) return;
  const at = besideOf(location.href, list.children.length);
  const fresh = await aside.ask(
    (signal) => part(at, "side", signal),
    () => void renewSide(),
  );
  if (!fresh) return;
  const focus = document.activeElement?.closest(".branches a")?.getAttribute("href");
  list.replaceChildren(fresh);
  if (focus) list.querySelector<HTMLElement>(`a[href="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  more(list);
}
