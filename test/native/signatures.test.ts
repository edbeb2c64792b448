// The C header and the table that bun:ffi reads must say the same; nothing else would notice a difference.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { symbols } from "../../ffi/llama/symbols.ts";

const TYPES: Readonly<Record<string, string>> = { int32_t: "i32", uint64_t: "u64", double: "f64", void: "void" };

/** Types of bun:ffi that fit a C type; text goes by terminator, everything else by length. */
function ffiType(type: string): string {
  if (type === "const char *") return "cstring";
  return type.endsWith("*") ? "buffer" : (TYPES[type] ?? `unknown C type ${type}`);
}

test("symbols.ts says what shim.h declares", async () => {
  const header = await Bun.file(join(import.meta.dir, "../../ffi/llama/shim.h")).text();
  const declared: Record<string, { args: string[]; returns: string }> = {};
  for (const [, returns = "", name = "", list = ""] of header.matchAll(/^SVC_API ([\w* ]+?)(svc_\w+)\(([^)]*)\);/gm)) {
    const parameters = list.trim() === "void" ? [] : list.split(",");
    const args = parameters.map((parameter) => ffiType(parameter.trim().replace(/\w+$/, "").trim()));
    declared[name] = { args, returns: ffiType(returns.trim()) };
  }
  expect(Object.keys(declared).length).toBeGreaterThan(20);
  const table = Object.entries(symbols).map(([name, { args, returns }]) => [name, { args: [...args], returns }]);
  expect(Object.fromEntries(table)).toEqual(declared);
});
