import { afterAll, beforeAll, expect, mock, spyOn, test } from "bun:test";
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

/** A server whose upstream computes a request that has no text yet. */
class PassingApi extends Api {
  override fetch(path: string): Promise<Response> {
    const metrics = 'svc_num_requests_running{model_name="up/m",engine="text"} 1\n';
    return Promise.resolve(
      path === "/metrics" ? new Response(metrics) : Response.json({ data: [{ state: "waiting" }], version: "1" }),
    );
  }
}

/** Resolves when the watch shows this many samples. */
const sampled = (watch: Watch, count: number) =>
  new Promise<void>((resolve) => void watch.levels.subscribe((all) => all.length === count && resolve()));

test("a request to an upstream counts once", async () => {
  const watch = new Watch(new PassingApi(), 1000, 1);
  const stop = watch.start();
  await sampled(watch, 1);
  stop();
  expect(watch.levels.value).toMatchObject([{ running: 1, waiting: 0 }]);
});

test("after a pause, the levels begin anew: the last minutes have no values from before", async () => {
  const watch = new Watch(new PassingApi(), 1000, 1);
  let stop = watch.start();
  await sampled(watch, 3);
  stop();
  const later = Date.now() + 60_000;
  spyOn(Date, "now").mockReturnValue(later);
  stop = watch.start();
  await sampled(watch, 1);
  stop();
  mock.restore();
});

/** A server that requires a key, and accepts none. */
class LockedApi extends Api {
  asked = 0;

  override async fetch(): Promise<Response> {
    this.asked++;
    this.needsKey.value = "missing";
    throw new Error("A key is required.");
  }
}

test("after the question for the key is closed, only opening the view again or a key leads to another request", async () => {
  const api = new LockedApi();
  const watch = new Watch(api, 1000, 5);
  const isAsked = async () => {
    while (!api.needsKey.value) await Bun.sleep(1);
  };
  let stop = watch.start();
  await isAsked();
  api.declineKey();
  const { asked } = api;
  await Bun.sleep(50);
  expect([api.asked, api.needsKey.value, watch.trouble.value]).toEqual([asked, "", "This server needs an API key."]);
  stop();
  stop = watch.start();
  await isAsked();
  api.declineKey();
  api.useKey("k");
  await isAsked();
  stop();
});
