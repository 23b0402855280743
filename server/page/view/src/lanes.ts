import { Place } from "./ask";
import { more } from "./more";
import { part } from "./server";

const box = (): HTMLElement | null => document.querySelector<HTMLElement>(".lanebox");

// lanes shows the newest turns first, says what is pointed at, and draws the time wider or narrower where one is.
export function lanes(): void {
  box()?.scrollTo({ left: 1e6 });
  for (const come of ["pointerover", "focusin"]) document.addEventListener(come, (event) => said(event.target));
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>("a[data-zoom][href]");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    void zoom(link.href, link.dataset.zoom!);
  });
}

// said shows in words what a turn, a going back, or a stretch of the strip is.
function said(target: EventTarget | null): void {
  const words = document.querySelector(".pointed");
  if (!words || !(target instanceof Element)) return;
  const link = target.closest(".chart a, .strip a, .names a");
  const text = link?.getAttribute("aria-label") ?? link?.getAttribute("title");
  if (!text) return;
  words.textContent = text;
  // At the pointer, too. The document does not have it twice: there are many.
  if (link instanceof SVGElement && !link.querySelector("title")) {
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = text;
    link.append(title);
  }
  words.classList.add("said");
}

// hold gives what puts the lanes, once they are drawn anew, where they are now: what is in the middle, or the end. What
// was said stays.
export function hold(): () => void {
  const old = box();
  if (!old) return () => undefined;
  const { scrollLeft: left, scrollTop: top, clientWidth: wide, scrollWidth: all } = old;
  const at = (one: Element): number => {
    const edges = one.getBoundingClientRect();
    return edges.left + edges.width / 2;
  };
  const middle = old.getBoundingClientRect().left + wide / 2;
  let near: Element | null = null;
  for (const dot of old.querySelectorAll(".chart a:not(.back)"))
    if (!near || Math.abs(at(dot) - middle) < Math.abs(at(near) - middle)) near = dot;
  const address = near?.getAttribute("href") ?? "";
  const was = near ? at(near) : 0;
  const atEnd = left + wide >= all - 1;
  const words = document.querySelector(".pointed.said");
  return () => {
    const fresh = box();
    if (!fresh) return;
    if (words) document.querySelector(".pointed")?.replaceWith(words);
    fresh.scrollTo({ left: atEnd ? 1e6 : left, top });
    const same = atEnd ? null : fresh.querySelector(`.chart a:not(.back)[href="${CSS.escape(address)}"]`);
    if (same) fresh.scrollLeft += at(same) - was;
  };
}

async function zoom(href: string, way: string): Promise<void> {
  const place = new Place({ busy: () => undefined, failed: () => location.assign(href) });
  const fresh = await place.ask(
    (signal) => part(href, "main", signal),
    () => undefined,
  );
  if (!fresh) return;
  const main = document.getElementById("main")!;
  const put = hold();
  const strip = main.querySelector(".stripbox"); // it stays as it is
  main.replaceChildren(fresh);
  if (strip) main.querySelector(".stripbox")?.replaceWith(strip);
  put();
  history.replaceState(null, "", href);
  const link =
    main.querySelector<HTMLElement>(`[data-zoom="${way}"][href]`) ??
    main.querySelector<HTMLElement>("[data-zoom][href]");
  link?.focus();
  more(main);
}
