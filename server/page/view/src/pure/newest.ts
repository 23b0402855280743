// Newest asks for one thing at a time. The newest request counts: one before it is given up.
export class Newest {
  private asking: AbortController | null = null;

  // ask gives the answer or the error; null: another request came meanwhile. Where neither comes within so many
  // milliseconds, late is called.
  async ask<T>(
    get: (signal: AbortSignal) => Promise<T>,
    after: number,
    late: () => void,
  ): Promise<{ got: T } | { error: unknown } | null> {
    this.asking?.abort();
    const mine = new AbortController();
    this.asking = mine;
    const timer = setTimeout(() => {
      if (!mine.signal.aborted) late();
    }, after);
    const answer = await get(mine.signal).then(
      (got) => ({ got }),
      (error: unknown) => ({ error }),
    );
    clearTimeout(timer);
    if (mine.signal.aborted) return null;
    this.asking = null;
    return answer;
  }
}
