// Small changes to a source file that a test should notice.

export interface Mutant {
  readonly path: string;
  /** Line number, from 1. */
  readonly line: number;
  readonly before: string;
  readonly after: string;
  /** The whole file with the change. */
  readonly code: string;
}

type Change = readonly [what: RegExp, by: (match: string) => string];

const replace = (a: string, b: string): Change => [new RegExp(` ${RegExp.escape(a)} `, "g"), () => ` ${b} `];
const swap = (a: string, b: string) => [replace(a, b), replace(b, a)];

const CHANGES: readonly Change[] = [
  ...swap("<", "<="),
  ...swap(">", ">="),
  ...swap("===", "!=="),
  ...swap("&&", "||"),
  ...swap("+", "-"),
  ...swap("*", "/"),
  ...swap("+=", "-="),
  [/ (<|>)=? /g, (operator) => (operator.includes("<") ? operator.replace("<", ">") : operator.replace(">", "<"))],
  [/\b(true|false)\b/g, (word) => String(word === "false")],
  [/\bMath\.(min|max)\b/g, (name) => (name === "Math.min" ? "Math.max" : "Math.min")],
  [/\b(if|while) \((?=.*\) [{\w])/g, (start) => `${start}!`],
  [/(?<=[\s(])!(?=[\w(])/g, () => ""],
  [/(?<=[\s(,-])\d[\d_]*(?=[\s),;])/g, (number) => String(Number(number.replaceAll("_", "")) + 1)],
  // A call whose result is not used.
  [/(?<=^\s*)(await )?(this\.)?[\w.]+(\?\.)?\(.*\);$/gm, () => ";"],
  [/(?<=^\s*)this\.\w+(\+\+|--|\.delete\(.*\));$/gm, () => ";"],
  [/(?<=^.*\breturn) [^;{[]+;$/gm, () => " undefined as never;"],
];

const transpiler = new Bun.Transpiler({ loader: "ts" });

/** Returns every mutant of a file that still compiles and differs from the original. */
export function mutantsOf(path: string, original: string): Mutant[] {
  const masked = mask(original);
  return CHANGES.flatMap(([what, by]) =>
    [...masked.matchAll(what)].flatMap(({ 0: match, index }) => {
      const end = index + match.length;
      const code = original.slice(0, index) + by(match) + original.slice(end);
      if (transpiled(code) === undefined || transpiled(code) === transpiled(original)) return [];
      const line = original.slice(0, end - match.trimStart().length).split("\n").length;
      const lineOf = (text: string) => (text.split("\n")[line - 1] ?? "").trim();
      return [{ path, line, before: lineOf(original), after: lineOf(code), code }];
    }),
  );
}

/** Returns the code with the content of comments and strings replaced by underscores. */
const mask = (code: string) =>
  code.replace(/\/\/.*|\/\*[\s\S]*?\*\/|(["'])(?:\\.|(?!\1)[^\\\n])*\1|`(?:\\.|[^`\\])*`/g, (text) =>
    text.replace(/[^\n]/g, "_"),
  );

function transpiled(code: string): string | undefined {
  try {
    return transpiler.transformSync(code);
  } catch {
    return undefined;
  }
}
