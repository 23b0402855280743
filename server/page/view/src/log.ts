import { part } from "./server";

// log shows the moment of a row beside the log, and takes in older rows as they come into sight.
export function log(): void {
  const list = document.querySelector<HTMLElement>("[data-rows]");
  if (!list) return;
  const moment = document.getElementById("moment")!;
  let asked = 0;

  const choose = async (row: HTMLElement): Promise<void> => {
    const link = row.querySelector("a")!;
    list.querySelector("a[aria-current]")?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    link.scrollIntoView({ block: "nearest" });
    const mine = ++asked;
    const shown = await part(link.href, "moment");
    if (mine !== asked) return; // another row was chosen meanwhile
    moment.replaceChildren(shown);
    moment.scrollTop = 0;
    const at = new URL(location.href);
    at.searchParams.set("at", row.dataset.id!);
    history.replaceState(null, "", at);
  };

  list.addEventListener("click", (event) => {
    const row = (event.target as Element).closest<HTMLElement>(".row");
    if (!row || event.metaKey || event.ctrlKey || event.shiftKey || moment.offsetParent === null) return;
    event.preventDefault();
    void choose(row);
  });
  list.addEventListener("choose", (event) => {
    const row = event.target as HTMLElement;
    row.querySelector("a")!.focus({ preventScroll: true });
    if (moment.offsetParent !== null) void choose(row);
    else row.scrollIntoView({ block: "nearest" });
  });

  const older = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) void more(one.target as HTMLAnchorElement);
  }, { rootMargin: "600px" });
  const more = async (link: HTMLAnchorElement): Promise<void> => {
    older.unobserve(link);
    const rows = await part(link.href, "rows");
    link.closest("li")!.replaceWith(rows);
    watch();
  };
  const watch = (): void => {
    for (const link of list.querySelectorAll("[data-older]")) older.observe(link);
  };
  watch();
}

// step chooses the row that is by so many after the chosen one.
export function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>(".row")];
  const now = rows.findIndex((row) => row.querySelector("a[aria-current]"));
  const next = rows[Math.min(Math.max(now + by, 0), rows.length - 1)];
  next?.dispatchEvent(new CustomEvent("choose", { bubbles: true }));
}
