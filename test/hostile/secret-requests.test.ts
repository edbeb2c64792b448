// The attack on privacy must know every route that takes a body.

import { expect, test } from "bun:test";
import { serve } from "../http/harness.ts";
import { secretRequests, WITHOUT_TEXT } from "./secret-requests.ts";

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly requestBody?: unknown }>>>>;
}

test("a secret is sent to every route that takes text", async () => {
  const { url } = serve();
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as Described;
  const taking = Object.keys(paths).filter((path) =>
    Object.values(paths[path] ?? {}).some(({ requestBody }) => requestBody !== undefined),
  );
  const sent = new Set((await secretRequests("conv_1")).map(({ route }) => route));
  expect(taking.filter((path) => !sent.has(path)).sort()).toEqual([...WITHOUT_TEXT].sort());
});
