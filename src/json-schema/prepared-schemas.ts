// Prepared schemas of earlier requests: an agent sends the same tools with every turn.

/** Characters of JSON that are kept, of schemas as received and as prepared. */
const MOST_CHARACTERS = 4_000_000;

export interface PreparedSchema {
  /** Equivalent or narrower schema for the grammar converter, enforced while sampling. `{}` allows every value. */
  readonly schema: Readonly<Record<string, unknown>>;
  /**
   * JSON pointers to the keywords of the client's schema that a grammar cannot express and that are not enforced. When
   * empty, every value that the grammar allows is valid.
   */
  readonly inexpressible: readonly string[];
}

export class PreparedSchemas {
  /** By the JSON text of the schema as received; the most recently used is last. */
  private readonly kept = new Map<string, { readonly prepared: PreparedSchema; readonly characters: number }>();
  private characters = 0;

  constructor(private readonly most = MOST_CHARACTERS) {}

  get(text: string): PreparedSchema | undefined {
    const entry = this.kept.get(text);
    if (!entry) return undefined;
    this.kept.delete(text);
    this.kept.set(text, entry);
    return entry.prepared;
  }

  /** Keeps a schema that is not there yet, in place of the least recently used ones. */
  add(text: string, prepared: PreparedSchema): void {
    const characters = text.length + JSON.stringify(prepared).length;
    // One large schema must not drive out those of everybody else.
    if (characters > this.most / 16) return;
    this.kept.set(text, { prepared, characters });
    this.characters += characters;
    for (const [oldest, entry] of this.kept) {
      if (this.characters <= this.most) break;
      this.kept.delete(oldest);
      this.characters -= entry.characters;
    }
  }
}
