// Keeps the progress of running requests by id.

export class ProgressById<Progress extends object> {
  private readonly running = new Map<string, Progress>();

  /** Returns the progress of a request; undefined before it is known and after the request ends. */
  of(id: string): Progress | undefined {
    return this.running.get(id);
  }

  /** Begins a request; several may share an id. Call `end` when the request is over. */
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
