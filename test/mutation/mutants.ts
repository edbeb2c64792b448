// Small changes of a source file that a test should notice.

export interface Mutant {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly before: string;
  readonly after: string;
  /** The whole file with the change. */
  readonly code: string;
}

type Change = readonly [what: RegExp, by: (match: string) => string];

const swap = (a: string, b: string): Change[] => [
  [spaced(a), () => ` ${b} `],
  [spaced(b), () => ` ${a} `],
];
const spaced = (operator: string) => new RegExp(` ${RegExp.escape(operator)} `, "g");

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
  // A call whose result nobody uses.
  [/(?<=^\s*)(await )?(this\.)?[\w.]+(\?\.)?\(.*\);$/gm, () => ";"],
  [/(?<=^\s*)this\.\w+(\+\+|--|\.delete\(.*\));$/gm, () => ";"],
  [/(?<=^.*\breturn) [^;{[]+;$/gm, () => " undefined as never;"],
];

const transpiler = new Bun.Transpiler({ loader: "ts" });

/** Every mutant of a file that is still a program, and another one. */
export function mutantsOf(path: string, code: string): Mutant[] {
  const masked = mask(code);
  const original = transpiler.transformSync(code);
  return CHANGES.flatMap(([what, by]) =>
    [...masked.matchAll(what)].flatMap(({ 0: match, index }) => {
      const end = index + match.length;
      const changed = code.slice(0, index) + by(match) + code.slice(end);
      if (!differs(original, changed)) return [];
      const line = code.slice(0, index + (match.length - match.trimStart().length)).split("\n").length;
      const lineOf = (text: string) => (text.split("\n")[line - 1] ?? "").trim();
      return [{ path, line, before: lineOf(code), after: lineOf(changed), code: changed }];
    }),
  );
}

/** The code with spaces for what comments and strings say. */
function mask(code: string): string {
  const spoken = /\/\/.*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g;
  return code.replace(spoken, (text) => text.replace(/[^\n]/g, "_"));
}

function differs(original: string, changed: string): boolean {
  try {
    return transpiler.transformSync(changed) !== original;
  } catch {
    return false;
  }
}
