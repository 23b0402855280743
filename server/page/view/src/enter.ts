import { entrance } from "./pure/address";
import { base } from "./server";

// enter gives the token in. It stands behind the '#' of the address, which no browser sends, and goes from the address
// first.
export async function enter(): Promise<void> {
  const { token, path } = entrance(location.href);
  history.replaceState(null, "", path);
  try {
    await giveIn(token);
  } catch {
    // no answer; the token is still good
    const wait = document.querySelector<HTMLElement>(".wait")!;
    const again = Object.assign(document.createElement("button"), { type: "button", textContent: "Try again" });
    again.addEventListener("click", () => location.replace(`${path}#${token}`));
    again.addEventListener("click", () => location.reload());
    wait.replaceChildren("The daemon does not answer. ", again);
  }
}

async function giveIn(token: string): Promise<void> {
  if (token) {
    const answer = await fetch(`${base}/enter`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token, zone: Intl.DateTimeFormat().resolvedOptions().timeZone }),
    });
    if (answer.ok) {
      location.replace(((await answer.json()) as { to: string }).to);
      return;
    }
  } else {
    const answer = await fetch(`${base}/projects`);
    if (answer.ok) {
      location.replace(`${base}/projects`);
      return;
    }
  }
  document.querySelector<HTMLElement>(".wait")!.hidden = true;
  document.querySelector<HTMLElement>(".used")!.hidden = false;
}
