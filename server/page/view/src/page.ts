// The page's script. What is shown is the server's HTML; this makes it quick: moments beside the log, keys, what happens meanwhile.
import { enter } from "./enter";
import { keys } from "./keys";
import { log } from "./log";
import { acts } from "./acts";
import { live } from "./live";
import { more, wanted } from "./more";
import { split } from "./split";
import { tree } from "./tree";

if (document.querySelector("[data-entrance]")) {
  void enter();
} else {
  keys();
  log();
  split();
  tree();
  acts();
  live();
  more();
  wanted();
}
