import { expect, test } from "bun:test";
import { join } from "node:path";
import { fieldRows, upstreamsReport } from "../parity/upstreams.ts";

test("every request field is passed on or refused by name, for every kind of server", () => {
  const dropped = fieldRows().flatMap(({ route, field, value, fates }) =>
    Object.entries(fates).flatMap(([kind, fate]) =>
      fate === "dropped" ? [`${route} ${field} ${JSON.stringify(value)} ${kind}`] : [],
    ),
  );
  expect(dropped).toEqual([]);
});

test("UPSTREAMS.md matches the translation", async () => {
  const file = Bun.file(join(import.meta.dir, "../parity/UPSTREAMS.md"));
  if (process.env["UPDATE"] === "1") await Bun.write(file, upstreamsReport());
  expect(await file.text()).toBe(upstreamsReport());
});
