// How far requests are that run, by their ids.

export class ProgressById<Progress extends object> {
  private readonly running = new Map<string, Progress>();

  /** Undefined before it is known, and after the request's end. */
  of(id: string): Progress | undefined {
    return this.running.get(id);
  }

  /** A request begins; an id may be that of several. `end` is to be called when it is over. */
  begin(id: string): { readonly tell: (progress: Progress) => void; readonly end: () => void } {
    let own: Progress | undefined;
    return {
      tell: (progress) => void this.running.set(id, (own = progress)),
      end: () => {
        if (own !== undefined && this.running.get(id) === own) this.running.delete(id);
      },
    };
  }
}
