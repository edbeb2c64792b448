import { expect, test } from "bun:test";
import { serve } from "./harness.ts";

test("the rehearsal reaches the checks of the bodies, and leaves nothing behind", async () => {
  const server = serve({ steps: [] });
  expect(await server.rehearse()).toEqual([400, 400, 400, 400, 400]);
  expect(server.engine.requests).toEqual([]);
  expect(server.metrics.calls).toEqual([]);
  expect(server.log.lines).toEqual([]);
});
