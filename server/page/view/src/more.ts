import { part } from "./server";

// more puts what a link stands for in the link's place as it comes into sight: the rest of a list.
const seen = new IntersectionObserver((all) => {
  for (const one of all) if (one.isIntersecting) void take(one.target as HTMLAnchorElement);
}, { rootMargin: "800px" });

export function more(root: ParentNode = document): void {
  for (const link of root.querySelectorAll<HTMLAnchorElement>("a[data-more]")) seen.observe(link);
}

async function take(link: HTMLAnchorElement): Promise<void> {
  seen.unobserve(link);
  const next = await part(link.href, link.dataset.more!).catch(() => null); // no answer: the link stays one
  if (!next || !link.isConnected) return;
  const place = link.closest(".older")!;
  const list = place.parentElement!;
  place.replaceWith(next);
  more(list);
  document.dispatchEvent(new Event("rewind:more"));
}
