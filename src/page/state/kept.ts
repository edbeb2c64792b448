// Texts that the browser keeps for the page.

/**
 * Keeps texts in one of the browser's storages. Where that refuses (blocked site data, no space), they stay in memory
 * until the page is closed.
 */
export class Kept {
  private readonly memory = new Map<string, string>();

  constructor(private readonly storage: "localStorage" | "sessionStorage") {}

  get(key: string): string | null {
    const remembered = this.memory.get(key);
    if (remembered !== undefined) return remembered;
    try {
      return globalThis[this.storage].getItem(key);
    } catch {
      return null;
    }
  }

  set(key: string, text: string): void {
    try {
      globalThis[this.storage].setItem(key, text);
      this.memory.delete(key);
    } catch {
      this.memory.set(key, text);
    }
  }
}
