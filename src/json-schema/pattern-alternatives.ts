// Counts how many alternatives of a pattern for the converter are open at once.

/** Matches the start of a group, a bar between options, or an atom or the end of a group with its repetition. */
const TOKEN =
  /(?<open>\(\?:)|(?<bar>\|)|(?<atom>\)|\[[^\]]*\]|\\x..|\\u.{4}|\\U.{8}|[^])(?:\{(?<min>\d+)(?<comma>,)?(?<max>\d*)\})?/gu;

interface Piece {
  /** Alternatives at the beginning of the piece. */
  readonly begin: number;
  /** Most alternatives that are open within the piece. */
  readonly open: number;
  /** The only character that the piece can begin with; undefined when there are several. */
  readonly first: string | undefined;
  readonly mayBeEmpty: boolean;
  /** Whether the piece may continue at a place where it may also end. */
  readonly lingers: boolean;
}

/** Returns the most alternatives that are open at any place of a pattern that this folder generated. */
export function patternAlternatives(pattern: string): number {
  const groups = [new Group()];
  for (const { groups: token = {} } of pattern.slice(1, -1).matchAll(TOKEN)) {
    const { open, bar, atom, min, comma, max } = token;
    if (open !== undefined) groups.push(new Group());
    else if (bar !== undefined) groups.at(-1)?.next();
    else {
      const piece = atom === ")" ? groups.pop()?.whole() : characters(atom);
      const most = comma === undefined ? min : max === "" ? "Infinity" : max;
      if (piece) groups.at(-1)?.add(min === undefined ? piece : repeated(piece, Number(min), Number(most)));
    }
  }
  return groups[0]?.whole().open ?? 1;
}

const characters = (atom: string | undefined): Piece => ({
  begin: 1,
  open: 1,
  first: atom?.startsWith("[") ? undefined : atom,
  mayBeEmpty: false,
  lingers: false,
});

const repeated = (piece: Piece, min: number, max: number): Piece => ({
  ...piece,
  mayBeEmpty: piece.mayBeEmpty || min === 0,
  lingers: piece.lingers || max > min,
});

/** The options of a group, or of the whole pattern. */
class Group {
  private begin = 0;
  private readonly byFirst = new Map<string | undefined, number>();
  private mayBeEmpty = false;
  private lingers = false;
  private option = new Option();

  add(piece: Piece): void {
    this.option.add(piece);
  }

  next(): void {
    const { begin, open, first, mayBeEmpty, lingers } = this.option.whole();
    this.begin += begin;
    this.byFirst.set(first, (this.byFirst.get(first) ?? 0) + open);
    this.mayBeEmpty ||= mayBeEmpty;
    this.lingers ||= lingers;
    this.option = new Option();
  }

  /** Options stay open together as long as they are alike; where their characters differ, only the matching ones do. */
  whole(): Piece {
    this.next();
    const unsure = this.byFirst.get(undefined) ?? 0;
    let [open, first] = [Math.max(this.begin, unsure), undefined as string | undefined];
    for (const [character, count] of this.byFirst) {
      if (character === undefined) continue;
      open = Math.max(open, unsure + count);
      if (this.byFirst.size === 1) first = character;
    }
    return { begin: this.begin, open, first, mayBeEmpty: this.mayBeEmpty, lingers: this.lingers };
  }
}

/** A sequence of pieces. */
class Option {
  private begin = 0;
  private open = 1;
  /** Alternatives that may still be open when the next piece begins. */
  private left = 0;
  private first: string | undefined;
  private atStart = true;
  private isNew = true;

  add(piece: Piece): void {
    this.open = Math.max(this.open, this.left + piece.open);
    this.left = piece.mayBeEmpty ? this.left + piece.open : piece.lingers ? piece.open : 0;
    if (this.isNew && !piece.mayBeEmpty) this.first = piece.first;
    this.isNew = false;
    if (!this.atStart) return;
    this.begin += piece.begin;
    this.atStart = piece.mayBeEmpty;
  }

  whole(): Piece {
    const { begin, open, first, atStart, left } = this;
    return { begin: Math.max(1, begin), open, first, mayBeEmpty: atStart, lingers: left > 0 };
  }
}
