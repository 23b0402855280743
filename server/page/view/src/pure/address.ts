// Addresses of the page. They are built here alone, from where a document is and what is asked of it.

// compared is where two branches are shown side by side.
export function compared(home: string, a: string, b: string): string {
  return `${home}/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`;
}

// chosen is the address of a document in which a moment is chosen.
export function chosen(here: string, moment: string): string {
  const at = new URL(here);
  at.searchParams.set("at", moment);
  return at.href;
}

// again is where a document is asked for again that has so many entries of its list.
export function again(here: string, have: number): string {
  const at = new URL(here);
  at.searchParams.set("have", String(have));
  return at.href;
}

// beside is where the list beside a document is asked for from its beginning, whatever the document's own query is.
export function beside(here: string, have: number): string {
  const at = new URL(here);
  at.search = `?from=0&have=${have}`;
  at.hash = "";
  return at.href;
}

// entrance takes the token out of an address: where the page is without it.
export function entrance(here: string): { token: string; path: string } {
  const at = new URL(here);
  return { token: at.hash.slice(1), path: at.pathname };
}
