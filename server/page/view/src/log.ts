import { failure, Place, skeleton } from "./ask";
import { chosen } from "./pure/address";
import { stepped } from "./pure/list";
import { part } from "./server";

let coming: Promise<void> = Promise.resolve();

// shown is when the moment beside the log is the chosen row's: what is done by a key is done to what is chosen.
export function shown(): Promise<void> {
  return coming;
}

// log shows the moment of a row beside the log.
export function log(): void {
  const list = document.querySelector<HTMLElement>("[data-rows]");
  if (!list) return;
  const moment = document.getElementById("moment")!;
  const name = document.querySelector(".where")!.textContent!; // of the project
  // put replaces what the pane shows. The focus stays in it.
  const put = (what: Node): void => {
    const focused = moment.contains(document.activeElement);
    moment.replaceChildren(what);
    if (focused) moment.focus({ preventScroll: true });
    moment.scrollTop = 0;
  };
  const pane = new Place({
    busy: (on) => {
      if (on) put(skeleton());
      moment.ariaBusy = String(on);
    },
    failed: (words, again) => put(failure(words, again)),
  });
  const choose = (row: HTMLElement): void => {
    coming = show(row);
  };
  // show makes a row the chosen one. What the pane had of another row can be used no more.
  const show = async (row: HTMLElement): Promise<void> => {
    const link = row.querySelector("a")!;
    list.querySelector("a[aria-current]")?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    link.scrollIntoView({ block: "nearest" });
    history.replaceState(null, "", chosen(location.href, row.dataset.id!));
    place();
    if (moment.contains(document.activeElement)) moment.focus({ preventScroll: true });
    for (const old of moment.children) old.toggleAttribute("inert", !isShown(row));
    moment.ariaBusy = "true";
    const answer = await pane.ask(
      (signal) => part(link.href, "moment", signal),
      () => choose(row),
    );
    if (!answer) return;
    put(answer);
    document.title = [moment.querySelector<HTMLElement>("[data-title]")?.dataset.title, name]
      .filter(Boolean)
      .join(" · ");
    document.querySelector("[data-told]")!.textContent =
      moment.querySelector(".changes h2")?.firstChild?.textContent ?? ""; // to who does not see it
  };
  const isShown = (row: HTMLElement): boolean =>
    moment.querySelector<HTMLElement>("[data-moment]")?.dataset.moment === row.dataset.id;

  // The scrubber stands for the rows that are there, the oldest on the left.
  const scrub = document.querySelector<HTMLElement>(".scrub")!;
  const slider = scrub.querySelector("input")!;
  const place = (): void => {
    const rows = all();
    const at = rows.length - rows.findIndex(isChosen);
    scrub.hidden = rows.length < 2;
    slider.max = String(rows.length);
    slider.value = String(at);
    slider.setAttribute(
      "aria-valuetext",
      `${at} of ${rows.length}: ${rows[rows.length - at]?.querySelector(".text")?.textContent ?? ""}`,
    );
    scrub.querySelector("output")!.textContent =
      `${at} of ${rows.length}${list.querySelector("[data-more]") ? "+" : ""}`;
  };
  slider.addEventListener("input", () => {
    const rows = all();
    rows[rows.length - Number(slider.value)]?.dispatchEvent(
      new CustomEvent("choose", { bubbles: true, detail: "stay" }),
    );
  });
  scrub.addEventListener("click", (event) => {
    const by = (event.target as Element).closest<HTMLElement>("[data-step]")?.dataset.step;
    if (by) step(Number(by));
  });
  for (const come of ["rewind:rows", "rewind:more"]) document.addEventListener(come, place);
  place();

  list.addEventListener("click", (event) => {
    const row = (event.target as Element).closest<HTMLElement>(".row");
    if (
      !row ||
      (event.target as Element).closest("button") ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      moment.offsetParent === null
    )
      return;
    event.preventDefault();
    // By the keyboard a second time: on to what stands beside it.
    if (event.detail === 0 && row.querySelector("a[aria-current]")) moment.focus();
    else choose(row);
  });
  list.addEventListener("choose", (event) => {
    const row = event.target as HTMLElement;
    if ((event as CustomEvent).detail !== "stay") row.querySelector("a")!.focus({ preventScroll: true });
    if (moment.offsetParent !== null) choose(row);
    else row.scrollIntoView({ block: "nearest" });
  });
}

// step chooses the row that is by so many after the chosen one.
export function step(by: number): void {
  const rows = all();
  const now = rows.findIndex(isChosen);
  const next = rows[stepped(now, by, rows.length)];
  next?.dispatchEvent(new CustomEvent("choose", { bubbles: true }));
}

function all(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-rows] .row")];
}

function isChosen(row: HTMLElement): boolean {
  return row.querySelector("a[aria-current]") !== null;
}
