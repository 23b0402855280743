import { base, part, project } from "./server";

// live shows what happens meanwhile: the log gets its new rows, drawings are drawn again. What a person is reading stays where it is.
export function live(): void {
  if (!project) return;
  let due = 0;
  const soon = (): void => {
    clearTimeout(due);
    due = window.setTimeout(() => void renew(), 120);
  };
  document.addEventListener("rewind:changed", soon);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) soon();
  });

  const offline = document.querySelector<HTMLElement>(".offline")!;
  const listen = (): void => {
    const events = new EventSource(`${base}/p/${project}/live`);
    let was = false;
    events.onopen = () => {
      if (!offline.hidden) soon();
      offline.hidden = true;
      was = true;
    };
    events.onmessage = (event) => {
      if (event.data !== '"ready"' || !was) soon();
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

async function renew(): Promise<void> {
  if (document.hidden || document.querySelector("dialog[open], [popover]:popover-open")) return;
  const at = document.body.dataset.at;
  if (at === "timeline") await renewLog();
  else if (at === "tree" || at === "lanes" || at === "ops") {
    const main = document.getElementById("main")!;
    const top = main.scrollTop;
    const focus = (document.activeElement as HTMLElement | null)?.getAttribute("href");
    main.replaceChildren(await part(location.href, "main"));
    main.scrollTop = top;
    if (focus) main.querySelector<HTMLElement>(`a[href="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }
}

// renewLog puts the newest rows before those that are there. Which one is chosen, and what is in sight, stays.
async function renewLog(): Promise<void> {
  const rows = document.querySelector<HTMLElement>("[data-rows]")!;
  const chosen = rows.querySelector<HTMLElement>("a[aria-current]")?.closest<HTMLElement>(".row")?.dataset.id;
  const fresh = await part(location.href, "log");
  for (const name of [".side", ".banner", ".ahead", ".log > .head"]) {
    const now = document.querySelector(name);
    const next = fresh.querySelector(name);
    if (now && next) now.replaceWith(next);
    else now?.remove();
  }
  const log = rows.closest<HTMLElement>(".log")!;
  const anchor = [...rows.children].find((row) => row.getBoundingClientRect().top >= log.getBoundingClientRect().top) as HTMLElement | undefined;
  const before = anchor?.getBoundingClientRect().top ?? 0;
  const focused = document.activeElement?.closest<HTMLElement>(".row")?.dataset.id;
  const list = fresh.querySelector<HTMLElement>("[data-rows]")!;
  const known = new Set([...list.children].map((row) => (row as HTMLElement).dataset.id));
  if (rows.children.length > list.children.length) {
    list.querySelector(".older")?.remove();
    for (const row of [...rows.children]) if (!known.has((row as HTMLElement).dataset.id)) list.append(row);
  }
  rows.replaceChildren(...list.children);
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
  document.dispatchEvent(new Event("rewind:rows"));
}
