// Pace says when what happens meanwhile is drawn. What comes in a burst is drawn together, and while more comes no
// oftener than this: drawing must not slow down who is at work. A step changes no session's place, so that the sessions
// beside the log are drawn less often still. Times are in milliseconds.
export class Pace {
  private readonly burst = 120;
  private readonly pause = 1500;
  private readonly pauseBeside = 4000;
  private last = 0;
  private lastBeside = 0;
  private beside = false; // what is beside the log is to be drawn, too
  private own = false; // who looks did it

  // wait is how long to wait from now on.
  wait(now: number): number {
    return Math.max(this.burst, this.last + this.pause - now);
  }

  // happened notes an event.
  happened(event: unknown): void {
    this.beside ||= event !== "checkpoint";
  }

  // mine notes that who looks did something: they wait for it.
  mine(): void {
    this.own = true;
    this.last = this.lastBeside = 0;
  }

  // take is what is to be drawn now.
  take(now: number): { beside: boolean; own: boolean } {
    this.last = now;
    const beside = this.beside && now - this.lastBeside >= this.pauseBeside;
    if (beside) {
      this.beside = false;
      this.lastBeside = now;
    }
    const own = this.own;
    this.own = false;
    return { beside, own };
  }

  // left reports whether something beside the log is still to be drawn.
  left(): boolean {
    return this.beside;
  }
}
