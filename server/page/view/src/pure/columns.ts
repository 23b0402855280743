// Where a line of a diff is when it is shown side by side. A line of both sides is there twice.
export interface Cell {
  row: number;
  column: "1" | "2" | "1 / -1";
  twin: boolean; // the line is in the second column, too
}

// columns puts runs of removed and added lines next to each other. The lines are known by their elements: DEL, INS,
// SPAN for a line of both sides; all others go across.
export function columns(lines: readonly string[]): Cell[] {
  let [left, right] = [0, 0]; // the last rows that are taken
  let last = "";
  return lines.map((line): Cell => {
    if (line !== "INS" && (line !== "DEL" || last === "INS")) left = right = Math.max(left, right);
    last = line;
    if (line === "INS") return { row: ++right, column: "2", twin: false };
    if (line === "DEL") return { row: ++left, column: "1", twin: false };
    right = ++left;
    return line === "SPAN" ? { row: left, column: "1", twin: true } : { row: left, column: "1 / -1", twin: false };
  });
}
