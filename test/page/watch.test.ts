import { afterAll, beforeAll, expect, test } from "bun:test";
import { Api } from "../../src/page/state/api.ts";
import { Watch } from "../../src/page/state/watch.ts";

/** A server that at first accepts requests without answering, and then answers. */
class SilentApi extends Api {
  isSilent = true;

  override async fetch(path: string, _body?: object, { signal }: RequestInit = {}): Promise<Response> {
    if (!this.isSilent) return path === "/metrics" ? new Response("") : Response.json({ data: [], version: "1" });
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
  }
}

beforeAll(() => Object.defineProperty(globalThis, "document", { value: { hidden: false }, configurable: true }));
afterAll(() => void Reflect.deleteProperty(globalThis, "document"));

test("a server that does not answer is reported until it answers again", async () => {
  const api = new SilentApi();
  const watch = new Watch(api, 10);
  const changes: string[] = [];
  const changed = Promise.withResolvers<void>();
  watch.trouble.subscribe((trouble) => {
    changes.push(trouble);
    if (trouble) api.isSilent = false;
    if (changes.length === 3) changed.resolve();
  });
  const stop = watch.start();
  await changed.promise;
  stop();
  expect(changes).toEqual(["", "The server does not answer.", ""]);
  expect(watch.health.value).toMatchObject({ version: "1" });
});
