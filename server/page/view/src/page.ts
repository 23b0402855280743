// The page's script. What is shown is the server's HTML; this makes it quick: moments beside the log, keys, what
// happens meanwhile.
import { enter } from "./enter";
import { keys } from "./keys";
import { lanes } from "./lanes";
import { log } from "./log";
import { acts } from "./acts";
import { live } from "./live";
import { more, wanted } from "./more";
import { split } from "./split";
import { steps } from "./steps";
import { tree } from "./tree";
import { versus } from "./versus";

if (document.querySelector("[data-entrance]")) {
  void enter();
} else {
  keys();
  log();
  steps();
  split();
  tree();
  versus();
  acts();
  live();
  wanted();
  lanes();
  painted(more);
}

// painted does something once the document has been painted: what comes later does not hold up what is seen first.
// Where nothing is painted, behind other tabs, it waits for nothing.
function painted(then: () => void): void {
  let late = 0;
  const once = (): void => {
    if (!late) return;
    clearTimeout(late);
    late = 0;
    seen.disconnect();
    then();
  };
  const seen = new PerformanceObserver(once);
  late = window.setTimeout(once, document.hidden ? 0 : 1000);
  seen.observe({ type: "paint", buffered: true });
}
