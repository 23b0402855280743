// beyond are the entries of an old list that stay behind those of a fresh one: what follows the fresh one's last entry.
// null: the last one is not in the old list, so that what follows it is not known.
export function beyond(old: readonly string[], fresh: readonly string[]): string[] | null {
  const last = fresh.at(-1);
  const at = last === undefined ? -1 : old.lastIndexOf(last);
  return at < 0 ? null : old.slice(at + 1);
}

// stepped is the index by so many after another one, in a list of so many entries.
export function stepped(now: number, by: number, entries: number): number {
  return Math.min(Math.max(now + by, 0), entries - 1);
}
