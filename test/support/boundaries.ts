// The import rules of AGENTS.md as functions over source texts, so that tests can also run them on texts that break
// them.

import { dirname, join } from "node:path";
import { isIn, whyNot, type Layers } from "./layers.ts";

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string;
  readonly code: string;
}

/** A package or name that only some files may use. */
export interface Reserved {
  readonly what: RegExp;
  /** Paths or folders that may use the name. */
  readonly only: readonly string[];
  /** Folders in which the rule applies. */
  readonly within: readonly string[];
  readonly why: string;
}

const transpiler = new Bun.Transpiler({ loader: "ts" });
const markup = new Bun.Transpiler({ loader: "tsx" });

const readerOf = (path: string) => (path.endsWith(".tsx") ? markup : transpiler);

/** What a file imports at run time: repository paths for its own files, package names otherwise. Types are not included. */
export function importsOf({ path, code }: SourceFile): string[] {
  return (
    readerOf(path)
      .scanImports(code)
      // The transpiler adds these imports for JSX; they are not in the source.
      .filter((found) => !found.path.includes("/jsx-"))
      .map((found) => (found.path.startsWith(".") ? join(dirname(path), found.path) : found.path))
  );
}

/** `file → import: why` for every import that the layer of the file does not allow. */
export function layerViolations(files: readonly SourceFile[], layers: Layers): string[] {
  return files.flatMap((file) => {
    const own = importsOf(file).filter((target) => isOurs(target));
    return own.flatMap((target) => {
      const reason = whyNot(layers, file.path, target);
      return reason === undefined ? [] : [`${file.path} → ${target}: ${reason}`];
    });
  });
}

/** `file → package: why` for every reserved package imported elsewhere than it may be. */
export function packageViolations(files: readonly SourceFile[], rules: readonly Reserved[]): string[] {
  return violations(files, rules, (file, { what }) =>
    importsOf(file).filter((name) => !isOurs(name) && what.test(name)),
  );
}

/** `file → name: why` for every reserved name used elsewhere than it may be. Comments and types do not count. */
export function nameViolations(files: readonly SourceFile[], rules: readonly Reserved[]): string[] {
  return violations(
    files,
    rules,
    ({ path, code }, { what }) => readerOf(path).transformSync(code).match(what)?.slice(0, 1) ?? [],
  );
}

/** Repository paths of all files that a file imports, for types as well. */
export const filesNamedIn = ({ path, code }: SourceFile): string[] =>
  [...code.matchAll(/^(?:import|export|\}) .*?"(\.[^"]+)"/gm)].map(([, target = ""]) => join(dirname(path), target));

/** Every chain of imports that leads back to its start, as `a → b → a`; of run-time imports, unless `targets` gives others. */
export function cycles(files: readonly SourceFile[], targets: (file: SourceFile) => string[] = importsOf): string[] {
  const graph = new Map(files.map((file) => [file.path, targets(file)]));
  const finished = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push([...trail.slice(start), path].join(" → "));
    if (start >= 0 || finished.has(path)) return;
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
    finished.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

/** Files that break a rule of form: default export, barrel, an import without its ending, more than `maxLines` lines. */
export function formViolations(files: readonly SourceFile[], maxLines: number): string[] {
  return files.flatMap(({ path, code }) => {
    const { exports, imports } = readerOf(path).scan(code);
    const lines = code.trimEnd().split("\n").length;
    const bare = imports.filter((found) => found.path.startsWith(".") && !/\.(js|json|tsx?|wasm)$/.test(found.path));
    return [
      ...(exports.includes("default") ? [`${path} has a default export: a thing has one name everywhere`] : []),
      ...(path.endsWith("/index.ts") || /^export \* /m.test(code)
        ? [`${path} is a barrel: import from where it is written`]
        : []),
      ...bare.map((found) => `${path} → ${found.path}: imports name the file, with its ending`),
      ...(lines > maxLines ? [`${path} has ${lines} lines: split it`] : []),
    ];
  });
}

const isOurs = (target: string): boolean => /\.(tsx?|json)$/.test(target) && !target.startsWith("node:");

function violations(
  files: readonly SourceFile[],
  rules: readonly Reserved[],
  find: (file: SourceFile, rule: Reserved) => readonly string[],
): string[] {
  return files.flatMap((file) =>
    rules
      .filter(
        ({ within, only }) =>
          within.some((folder) => isIn(file.path, folder)) && !only.some((one) => isIn(file.path, one)),
      )
      .flatMap((rule) => find(file, rule).map((found) => `${file.path} → ${found}: ${rule.why}`)),
  );
}
