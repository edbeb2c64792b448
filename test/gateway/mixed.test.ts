// Replicas of different kinds under one name, and failures that another replica compensates.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { until } from "../support/until.ts";
import {
  chatServer,
  delta,
  eventStream,
  fixtureServer,
  helloStream,
  serverOf,
  type FixtureServer,
} from "./fixture-server.ts";
import { conversationOf, conversationsOf, generate, remote, textOf, type Remote } from "./remote.ts";

setDefaultTimeout(60_000);

type Answer = Parameters<typeof chatServer>[0];

const asked = ({ asked: all }: FixtureServer) => all.filter(({ path }) => path === "/v1/chat/completions").length;
const failing = (status: number, message = "no") => Response.json({ error: { message } }, { status });
const never = () => new Promise<never>(() => {});
/** Resolves with the texts or errors of eight conversations, of which each replica is preferred by some. */
function conversations(far: Remote, changes: Partial<GenerateRequest> = {}) {
  const ofEach = far.replicas.map((replica) => conversationsOf(far, replica, changes));
  return Promise.all(
    Array.from({ length: 8 }, (_, turn) =>
      generate(far, { ...ofEach[turn % ofEach.length]?.next().value, id: `r${turn}` }).then(
        textOf,
        (error: unknown) => error,
      ),
    ),
  );
}
const eight = (text: string) => Array.from({ length: 8 }, () => text);

describe("llama.cpp and vLLM under one name", () => {
  test("a request goes to the replica that supports all of its fields", async () => {
    const [llama, vllm] = [serverOf("llamacpp", helloStream), serverOf("vllm", helloStream)];
    const far = await remote([llama.url, vllm.url]);
    const own = asked(vllm);
    expect(await conversations(far, { foreign: { stop_token_ids: [5] } })).toEqual(eight("Hello"));
    expect([asked(llama), asked(vllm) - own]).toEqual([0, 8]);
    expect(await conversations(far, { sampling: { mirostat: 2 } })).toEqual(eight("Hello"));
    expect([asked(llama), asked(vllm) - own]).toEqual([8, 8]);
    // A request that no replica supports is refused by field and counts as a failure of none.
    const refused = await generate(far, { foreign: { stop_token_ids: [5] }, sampling: { mirostat: 2 } }).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: "unsupported_parameter" });
    expect([asked(llama), asked(vllm) - own]).toEqual([8, 8]);
    expect(far.replicas.flatMap(({ stats }) => [...stats.failures])).toEqual([]);
    expect(far.replicas.map(({ stats }) => stats.retries)).toEqual([0, 0]);
  });

  test("what one kind refuses is tried at the other kind, but not at a second replica of the same kind", async () => {
    const no = () => failing(400, "what is this?");
    const [first, second, vllm] = [serverOf("llamacpp", no), serverOf("llamacpp", no), serverOf("vllm", helloStream)];
    const far = await remote([first.url, second.url, vllm.url]);
    const before = asked(first) + asked(second);
    expect(await conversations(far)).toEqual(eight("Hello"));
    expect(asked(first) + asked(second) - before).toBeLessThanOrEqual(8);
    const alone = await remote([first.url, second.url]);
    const refused = await generate(alone).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "invalid_value" });
  });

  test("what a replica refuses because of its start options is tried at a second one of the same kind", async () => {
    const no = () => failing(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser');
    const far = await remote([serverOf("vllm", no).url, serverOf("vllm", helloStream).url]);
    expect(await conversations(far)).toEqual(eight("Hello"));
  });

  describe("with images", () => {
    const picture = { kind: "image", url: "data:image/png;base64,AA==", detail: "auto" } as const;
    const media = { type: "media", source: picture, param: "messages.0.content.1.image_url" } as const;
    /** Runs enough conversations that each replica is preferred by some. */
    const asking = (far: Remote) =>
      Promise.all(
        Array.from({ length: 16 }, (_, turn) => {
          const content = [{ type: "text" as const, text: `picture ${turn}` }, media];
          const request = { id: `r${turn}`, messages: [{ role: "user" as const, content }] };
          return generate(far, request).then(textOf, (error: unknown) => error);
        }),
      );
    /** Starts a server without a projector that answers images as llama.cpp 0.5.0 does. */
    const llama = (tells: boolean) =>
      fixtureServer(({ path }) => {
        if (path === "/v1/models") return Response.json({ data: [{ id: "far", owned_by: "llamacpp" }] });
        if (path === "/props" && tells) return Response.json({ modalities: { vision: false, audio: false } });
        const hint = "if this is unexpected, you may need to provide the mmproj";
        return path === "/v1/chat/completions"
          ? failing(500, `image input is not supported - hint: ${hint}`)
          : undefined;
      });

    test("a replica known to lack vision is not tried, and one that refuses images unexpectedly stays healthy", async () => {
      for (const tells of [true, false]) {
        const blind = llama(tells);
        const far = await remote([blind.url, serverOf("vllm", helloStream).url]);
        const [replica] = far.replicas;
        expect(new Set(await asking(far))).toEqual(new Set(["Hello"]));
        expect(asked(blind) > 0).toBe(!tells);
        expect([replica?.state, replica?.stats.outages]).toEqual(["up", 0]);
      }
      const [failure] = await asking(await remote([llama(false).url]));
      expect(failure).toMatchObject({ code: "invalid_value", message: expect.stringContaining("text alone") });
    });
  });
});

describe("before anything of an answer was sent", () => {
  test.each([
    ["is silent", never],
    ["is silent after its headers", () => eventStream([], { hold: true })],
    ["fails with 500", () => failing(500)],
    ["fails in its stream", () => eventStream([{ error: { message: "engine died", code: 500 } }])],
  ] as const)("a replica that %s loses no request", async (_, answer) => {
    const far = await remote([chatServer(answer).url, chatServer(helloStream).url], { silenceMs: 1000 });
    expect(await conversations(far)).toEqual(eight("Hello"));
    expect(far.replicas.map(({ isWell }) => isWell)).toEqual([false, true]);
  });

  test("a request that fails everywhere marks no replica as failed", async () => {
    const poison: Answer = ({ body }) => (JSON.stringify(body).includes("poison") ? failing(500) : helloStream());
    const servers = [chatServer(poison), chatServer(poison)];
    const far = await remote(servers.map(({ url }) => url));
    for (let time = 0; time < 4; time++) {
      const failure = await generate(far, { messages: [{ role: "user", content: "poison" }] }).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ code: "upstream_error" });
    }
    expect(far.replicas.map(({ isWell }) => isWell)).toEqual([true, true]);
    expect(await conversations(far)).toEqual(eight("Hello"));
  });

  test("a request that broke three replicas is not sent to a fourth", async () => {
    const servers = Array.from({ length: 5 }, () => chatServer(() => eventStream([], { done: false })));
    const far = await remote(servers.map(({ url }) => url));
    expect(await generate(far).catch((error: unknown) => error)).toMatchObject({ code: "upstream_unavailable" });
    expect(servers.reduce((sum, server) => sum + asked(server), 0)).toBe(3);
  });
});

test("an unknown model is reported differently from one that has disappeared", async () => {
  const server = fixtureServer(({ path }) =>
    path === "/v1/models" ? Response.json({ data: [{ id: "far", owned_by: "someone" }] }) : failing(404),
  );
  const { gateway } = await remote([server.url]);
  const messageOf = async (name: string) => {
    const engine = gateway.find(name)?.chat?.engine;
    if (!engine) throw new Error("no backend");
    return generate({ engine }).catch((error: unknown) => (error as Error).message);
  };
  expect(await messageOf("up/far")).toBe("The server of this model does not have it any more.");
  expect(await messageOf("up/made-up")).toBe("The server of this model has no model with this name.");
});

describe("--upstream-hedge", () => {
  /**
   * Returns two replicas whose usual time to first token is known; after `stall`, the first sends nothing, or answers
   * once the given promise resolves.
   */
  async function warmedUp(hedge: boolean, second: Answer = helloStream) {
    let stalled: Promise<Response> | undefined;
    const first = chatServer(() => stalled ?? helloStream());
    // Only a hedged request can save one that the first replica does not answer.
    const far = await remote([first.url, chatServer(second).url], { hedge, silenceMs: 600_000 });
    const [replica, other] = far.replicas;
    if (!replica || !other) throw new Error("no replicas");
    while (replica.stats.firstTokens.count < 20) await conversations(far);
    const stall = (until = Promise.resolve(eventStream([], { hold: true }))) => void (stalled = until);
    return { far, replica, other, first, stall };
  }

  test("a second replica answers for one that is silent longer than usual, and the first attempt is cancelled", async () => {
    const { far, replica, other, first, stall } = await warmedUp(true);
    stall();
    const answer = await generate(far, conversationOf(far, replica));
    expect(textOf(answer)).toBe("Hello");
    expect(answer.filter(({ type }) => type === "accepted")).toHaveLength(1);
    expect([replica.stats.hedges, other.stats.hedges]).toEqual([0, 1]);
    await until(() => first.left.length === 1 && replica.inFlight === 0);
    expect([...replica.stats.failures, ...other.stats.failures]).toEqual([]);
  });

  test.each([
    ["answers, the client gets that answer", helloStream, "Hello"],
    ["fails, too, the refusal is told", () => failing(502), expect.objectContaining({ code: "payload_too_large" })],
  ])("when the second replica refuses the request and the first %s", async (_, late, told) => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    let refuses = false;
    const { far, replica, other, stall } = await warmedUp(true, () => {
      if (!refuses) return helloStream();
      // The first replica answers after the refusal has arrived.
      void until(() => other.stats.failures.size > 0).then(() => resolve(late()));
      return failing(413);
    });
    refuses = true;
    stall(promise);
    const answer = generate(far, conversationOf(far, replica));
    expect(await answer.then(textOf, (error: unknown) => error)).toEqual(told);
  });

  test("the replica whose attempt was cancelled answers when the other one breaks off", async () => {
    let breaks = false;
    const { far, replica, other, stall } = await warmedUp(true, () => {
      if (!breaks) return helloStream();
      // The first replica is well again when the second has begun to answer.
      stall(Promise.resolve(helloStream()));
      return eventStream([delta({ content: "Hel" })], { done: false });
    });
    breaks = true;
    stall();
    const answer = await generate(far, conversationOf(far, replica, { whole: true }));
    expect(textOf(answer.slice(answer.findLastIndex(({ type }) => type === "restarted")))).toBe("Hello");
    expect([...other.stats.failures]).toEqual([["upstream_unavailable", 1]]);
  });

  test("is off by default, and stops when too many requests were hedged", async () => {
    const off = await warmedUp(false);
    expect(off.far.upstream.hedgeAfterMs(off.replica)).toBeUndefined();
    const on = await warmedUp(true);
    expect(on.far.upstream.hedgeAfterMs(on.replica)).toBeGreaterThan(0);
    on.other.stats.hedges = on.replica.stats.requests + on.other.stats.requests;
    expect(on.far.upstream.hedgeAfterMs(on.replica)).toBeUndefined();
  });
});
