// What a key does, where it does anything.
export interface Pressed {
  key: string;
  held: boolean; // Control, Alt or the command key with it: it is the browser's
  on: "text" | "control" | "page"; // what has the focus: a field, what Enter presses, or anything else
}

export interface Around {
  dialog: boolean; // one is open: keys are the dialog's
  project: boolean;
  rows: boolean; // of a log
}

// keyed is the name of the action of a key; "leave" is to leave a field, null nothing.
export function keyed(pressed: Pressed, around: Around, actions: ReadonlySet<string>): string | null {
  const { key } = pressed;
  if (pressed.held || around.dialog) return null;
  if (pressed.on === "text") return key === "Escape" ? "leave" : null;
  if (key === "Enter" && pressed.on === "control") return null;
  if (!actions.has(key)) return null;
  if (key.startsWith("Arrow") && !around.rows) return null;
  return around.project || key === "?" || key === "/" ? key : null;
}
