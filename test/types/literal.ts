// Writes a parsed answer as a TypeScript literal, without intentional deviations.

import type { Deviations } from "./deviations.ts";

/** Writes literals for one type, and remembers which of its deviations occurred. */
export class LiteralWriter {
  private readonly used = new Set<string>();

  constructor(private readonly deviations: Deviations) {}

  /** Returns the literal on one line. */
  write(value: unknown): string {
    return this.at(value, []);
  }

  /** Deviations that occurred in no written value. */
  get unused(): string[] {
    const { extensions = [], values = {}, absent = {} } = this.deviations;
    const known = [
      ...extensions,
      ...Object.entries(values).flatMap(([path, all]) => all.map((value) => `${path} = ${value}`)),
      ...Object.keys(absent),
    ];
    return known.filter((path) => !this.used.has(path));
  }

  private at(value: unknown, path: readonly string[]): string {
    if (Array.isArray(value)) return `[${value.map((item) => this.at(item, [...path, "*"])).join(", ")}]`;
    if (typeof value === "object" && value !== null) return this.object({ ...value }, path);
    const [name] = this.match(this.deviations.values, path) ?? [];
    const isDeviation = name !== undefined && this.deviations.values?.[name]?.includes(value as string | null);
    if (isDeviation) this.used.add(`${name} = ${String(value)}`);
    return `${JSON.stringify(value)}${isDeviation ? " as never" : ""}`;
  }

  private object(fields: Readonly<Record<string, unknown>>, path: readonly string[]): string {
    const own = Object.entries(fields).flatMap(([key, value]) => {
      const at = [...path, key];
      const names = [at.join("."), `${path.join(".")}=${String(fields["type"])}.${key}`];
      const extension = this.deviations.extensions?.find((one) => names.includes(one));
      if (extension === undefined) return [`${JSON.stringify(key)}: ${this.at(value, at)}`];
      this.used.add(extension);
      return [];
    });
    const added = Object.entries(this.deviations.absent ?? {}).flatMap(([name, value]) => {
      const parent = name.split(".").slice(0, -1).join(".");
      const [at, type] = parent.split("=");
      if (at !== path.join(".") || (type !== undefined && fields["type"] !== type)) return [];
      this.used.add(name);
      return [`${JSON.stringify(name.split(".").at(-1))}: ${JSON.stringify(value)}`];
    });
    return `{ ${[...own, ...added].join(", ")} }`;
  }

  private match<Value>(table: Readonly<Record<string, Value>> = {}, path: readonly string[]) {
    return Object.entries(table).find(([name]) => name === path.join("."));
  }
}
