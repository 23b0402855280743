import assert from "node:assert/strict";
import { test } from "node:test";
import { again, beside, chosen, compared, entrance } from "../pure/address";
import { columns } from "../pure/columns";
import { keyed, type Around, type Pressed } from "../pure/keymap";
import { beyond, stepped } from "../pure/list";
import { Newest } from "../pure/newest";
import { Pace } from "../pure/pace";

const here = "http://127.0.0.1:4000/ab/p/1/s/claude/x?at=turn%3A2&before=7#hit";

test("addresses keep what they do not change, and quote what they are given", () => {
  assert.equal(compared("/ab/p/1", "claude/a&b", "codex/ü"), "/ab/p/1/compare?a=claude%2Fa%26b&b=codex%2F%C3%BC");
  assert.equal(new URL(chosen(here, "turn:3@claude/x&y")).searchParams.get("at"), "turn:3@claude/x&y");
  assert.equal(new URL(chosen(here, "aa")).searchParams.get("before"), "7");
  assert.equal(new URL(again(again(here, 3), 48)).searchParams.getAll("have").join(), "48");
  assert.equal(beside(here, 30), "http://127.0.0.1:4000/ab/p/1/s/claude/x?from=0&have=30");
  assert.deepEqual(entrance("http://127.0.0.1:4000/ab/#secret"), { token: "secret", path: "/ab/" });
  assert.deepEqual(entrance("http://127.0.0.1:4000/ab/"), { token: "", path: "/ab/" });
});

test("a key does something where it is nobody else's", () => {
  const actions = new Set(["j", "Enter", "ArrowDown", "?", "/", "g"]);
  const around: Around = { dialog: false, project: true, rows: true };
  const pressed: Pressed = { key: "j", held: false, on: "page" };
  const cases: [Partial<Pressed>, Partial<Around>, string | null][] = [
    [{}, {}, "j"],
    [{ held: true }, {}, null],
    [{}, { dialog: true }, null],
    [{ on: "text" }, {}, null],
    [{ on: "text", key: "Escape" }, {}, "leave"],
    [{ key: "Escape" }, {}, null],
    [{ key: "Enter" }, {}, "Enter"],
    [{ key: "Enter", on: "control" }, {}, null],
    [{ key: "g", on: "control" }, {}, "g"],
    [{ key: "ArrowDown" }, { rows: false }, null],
    [{ key: "g" }, { project: false }, null],
    [{ key: "?" }, { project: false }, "?"],
    [{ key: "/" }, { project: false }, "/"],
    [{ key: "constructor" }, {}, null],
  ];
  for (const [p, a, want] of cases) {
    assert.equal(keyed({ ...pressed, ...p }, { ...around, ...a }, actions), want, JSON.stringify([p, a]));
  }
});

test("older rows stay behind the fresh ones", () => {
  assert.deepEqual(beyond(["c", "b", "a"], ["d", "c", "b"]), ["a"]);
  assert.deepEqual(beyond(["c", "b", "a"], ["e", "d"]), null);
  assert.deepEqual(beyond(["c", "b"], ["d", "c", "b"]), []);
  assert.deepEqual(beyond(["a"], []), null);
});

test("a step ends at the ends of the list", () => {
  assert.deepEqual([stepped(0, -1, 3), stepped(2, 1, 3), stepped(1, 1, 3), stepped(-1, 1, 3)], [0, 2, 2, 0]);
});

test("side by side, removed lines are beside the added ones", () => {
  const at = (lines: string): string =>
    columns(lines.split(" "))
      .map((cell) => `${cell.row}:${cell.column}${cell.twin ? "=" : ""}`)
      .join(" ");
  assert.equal(at("B SPAN DEL DEL INS SPAN"), "1:1 / -1 2:1= 3:1 4:1 3:2 5:1=");
  assert.equal(at("DEL INS INS DEL"), "1:1 1:2 2:2 3:1"); // the second change is below the first
  assert.equal(at("INS INS SPAN A"), "1:2 2:2 3:1= 4:1 / -1");
});

test("what comes in a burst is drawn together, and what is beside the log less often", () => {
  const pace = new Pace();
  const start = 1e6;
  assert.equal(pace.wait(start), 120);
  pace.happened("checkpoint");
  assert.deepEqual(pace.take(start), { beside: false, own: false });
  assert.equal(pace.wait(start + 100), 1400);
  pace.happened("turn");
  assert.deepEqual(pace.take(start + 1500), { beside: true, own: false });
  pace.happened("turn");
  assert.deepEqual(pace.take(start + 3000), { beside: false, own: false });
  assert.equal(pace.left(), true);
  assert.deepEqual(pace.take(start + 5500), { beside: true, own: false });
  assert.equal(pace.left(), false);
  pace.happened("undo");
  pace.mine();
  assert.equal(pace.wait(start + 5501), 120); // who did it waits for it
  assert.deepEqual(pace.take(start + 5501), { beside: true, own: true });
  assert.deepEqual(pace.take(start + 9e6), { beside: false, own: false });
});

test("the newest request counts", async () => {
  const one = new Newest();
  let given: AbortSignal | null = null;
  const first = one.ask(
    (signal) => {
      given = signal;
      return new Promise<string>((_, no) => signal.addEventListener("abort", () => no(new Error("given up"))));
    },
    0,
    () => assert.fail("late, though it was given up"),
  );
  const second = one.ask(
    () => Promise.resolve("second"),
    1000,
    () => undefined,
  );
  assert.equal(await first, null);
  assert.equal((given as AbortSignal | null)?.aborted, true);
  assert.deepEqual(await second, { got: "second" });
});

test("an answer that is late is told of, and an error is given", async () => {
  const one = new Newest();
  let late = 0;
  const slow = (): Promise<string> => new Promise((yes) => setTimeout(() => yes("slow"), 30));
  assert.deepEqual(await one.ask(slow, 1, () => late++), { got: "slow" });
  assert.equal(late, 1);
  const broken = new Error("no");
  assert.deepEqual(
    await one.ask(
      () => Promise.reject(broken),
      1000,
      () => late++,
    ),
    { error: broken },
  );
  assert.deepEqual(
    await one.ask(
      () => Promise.resolve("again"),
      1000,
      () => late++,
    ),
    { got: "again" },
  );
  assert.equal(late, 1);
});
