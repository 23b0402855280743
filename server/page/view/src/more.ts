import { Place } from "./ask";
import { part } from "./server";

// more puts what a link stands for in the link's place as it comes into sight: the rest of a list.
const seen = new IntersectionObserver(
  (all) => {
    for (const one of all) if (one.isIntersecting) void take(one.target as HTMLAnchorElement);
  },
  { rootMargin: "800px" },
);

// more watches the links that are there; those with data-click wait until somebody wants them.
export function more(root: ParentNode = document): void {
  for (const link of root.querySelectorAll<HTMLAnchorElement>("a[data-more]:not([data-click])")) seen.observe(link);
}

export function wanted(): void {
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>("a[data-more]");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    void take(link);
  });
}

async function take(link: HTMLAnchorElement): Promise<void> {
  seen.unobserve(link);
  if (link.ariaBusy === "true") return;
  link.ariaBusy = "true";
  const words = (link.dataset.words ??= link.textContent!);
  const place = new Place({
    busy: (on) => {
      link.textContent = on ? "Loading…" : words;
    },
    failed: (why, again) => {
      // the link asks again
      link.ariaBusy = null;
      link.textContent = `${why.textContent!.trim()} ${again.textContent}`;
    },
  });
  const next = await place.ask(
    (signal) => part(link.href, link.dataset.more!, signal),
    () => void take(link),
  );
  if (!next || !link.isConnected) return;
  const old = link.closest(".older")!;
  const list = old.parentElement!;
  const had = document.activeElement === link;
  const first = next.firstElementChild as HTMLElement | null;
  old.replaceWith(next);
  if (had) {
    // the focus goes to what came
    if (first && !first.querySelector("a")) first.tabIndex = -1;
    (first?.querySelector<HTMLElement>("a") ?? first)?.focus({ preventScroll: true });
  }
  more(list);
  document.dispatchEvent(new Event("rewind:more"));
}
