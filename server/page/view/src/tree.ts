import { compared } from "./pure/address";
import { base, project } from "./server";

// tree lets two branches be chosen to compare, and puts a menu beside its button.
export function tree(): void {
  if (!document.querySelector("[data-compare]")) return;
  const chosen = (): HTMLInputElement[] => [...document.querySelectorAll<HTMLInputElement>("input[name=side]:checked")];
  document.addEventListener("change", (event) => {
    const box = event.target as HTMLInputElement;
    if (box.name !== "side") return;
    const all = chosen();
    if (all.length > 2) all.find((other) => other !== box)!.checked = false;
    document.querySelector<HTMLButtonElement>("[data-compare] button")!.disabled = chosen().length !== 2;
  });
  document.addEventListener("submit", (event) => {
    if (!(event.target as Element).matches("[data-compare]")) return;
    event.preventDefault();
    const [a, b] = chosen();
    if (a && b) location.assign(compared(`${base}/p/${project}`, a.value, b.value));
  });
  document.addEventListener("click", (event) => {
    if ((event.target as Element).closest(".menu [data-act]"))
      (event.target as Element).closest<HTMLElement>(".menu")!.hidePopover();
  });
}
