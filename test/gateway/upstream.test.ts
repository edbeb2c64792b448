import { expect, test } from "bun:test";
import { affinity, prefixKey } from "../../src/gateway/prefix-key.ts";
import { CircuitBreaker } from "../../src/gateway/circuit-breaker.ts";
import { Replica } from "../../src/gateway/replica.ts";
import { Upstream } from "../../src/gateway/upstream.ts";
import { plainRequest } from "../support/request.ts";

const clock = { now: () => 0, wall: () => 0 };
const timeouts = { connectMs: 1, silenceMs: 1 };
const replicas = (count: number) =>
  Array.from({ length: count }, (_, index) => new Replica({ url: `http://127.0.0.1:${index + 1}` }, timeouts, clock));
const KEY = 7;
const none: ReadonlySet<Replica> = new Set();
const choose = (upstream: Upstream, tried = none) => {
  const chosen = upstream.choose("m", KEY, tried);
  if (!chosen) throw new Error("no replica to ask");
  return chosen.replica;
};

test("the turns of a conversation have the same key, and different conversations different keys", () => {
  const turn = { role: "user" as const, content: "first" };
  const system = { role: "system" as const, content: "Be brief." };
  const begun = plainRequest("", { messages: [system, turn] });
  const later = plainRequest("", {
    messages: [system, turn, { role: "assistant", content: "a" }, { ...turn, content: "b" }],
  });
  expect(prefixKey(later)).toBe(prefixKey(begun));
  expect(prefixKey(plainRequest("", { messages: [system, { ...turn, content: "other" }] }))).not.toBe(prefixKey(begun));
  expect(prefixKey(plainRequest("", { messages: [turn] }))).not.toBe(prefixKey(begun));
  const [long, longer] = [500, 600].map((words) => plainRequest("", { messages: [], prompt: "word ".repeat(words) }));
  expect(long && prefixKey(long)).toBe(longer ? prefixKey(longer) : 0);
});

test("of images and sounds, their length and their beginning are part of the key", () => {
  const seen = (url: string) => {
    const part = { type: "media", source: { kind: "image", url, detail: "auto" }, param: "p" } as const;
    return prefixKey(plainRequest("", { messages: [{ role: "user", content: [{ type: "text", text: "?" }, part] }] }));
  };
  const url = `data:image/png;base64,${"A".repeat(4000)}`;
  expect(seen(url)).toBe(seen(url));
  expect(new Set([url, `${url}AAAA`, url.replace("AA", "AB"), url.replace("png", "gif")].map(seen)).size).toBe(4);
});

test("when a replica is removed, only its own conversations move, and the others share them evenly", () => {
  const all = replicas(3);
  const keys = Array.from({ length: 600 }, (_, index) => `conversation ${index}`);
  const favourite = (candidates: readonly Replica[], key: string) => {
    const suits = ({ url }: Replica) => affinity(url, Bun.hash.xxHash32(key));
    return candidates.toSorted((a, b) => suits(b) - suits(a))[0];
  };
  const before = keys.map((key) => favourite(all, key));
  for (const replica of all) {
    const share = before.filter((one) => one === replica).length;
    expect(share).toBeGreaterThan(140);
    expect(share).toBeLessThan(260);
  }
  const after = keys.map((key) => favourite(all.slice(1), key));
  expect(after.filter((one, index) => one !== before[index] && before[index] !== all[0])).toEqual([]);
});

test("the preferred replica is chosen until it has much more work than the others, then the one with the least", () => {
  const all = replicas(3);
  const upstream = new Upstream("up", all, true);
  const favourite = choose(upstream);
  const send = (replica: Replica) => replica.begin({ isOwn: true, isRetry: false });
  send(favourite);
  expect(choose(upstream)).toBe(favourite);
  send(favourite);
  const [other, idle] = all.filter((replica) => replica !== favourite) as [Replica, Replica];
  send(other);
  expect(choose(upstream)).toBe(idle);
  for (const replica of [other, idle, idle]) send(replica);
  expect(choose(upstream)).toBe(favourite);
});

test("failed replicas are skipped, and a request that was tried everywhere has no replica left", () => {
  const all = replicas(2);
  const upstream = new Upstream("up", all, true);
  const favourite = choose(upstream);
  const other = choose(upstream, new Set([favourite]));
  expect(other).not.toBe(favourite);
  favourite.breaker.failed("request");
  favourite.breaker.failed("request");
  expect(choose(upstream)).toBe(other);
  expect(upstream.choose("m", KEY, new Set(all))).toBeUndefined();
  expect(upstream.unavailable("m")).toMatchObject({ code: "upstream_unavailable", details: { retryAfterSeconds: 1 } });
});

test("a breaker opens after consecutive failures, lets one request try, and waits longer each time", () => {
  const time = { now: 0 };
  const breaker = new CircuitBreaker(() => time.now);
  breaker.failed("request");
  breaker.succeeded();
  breaker.failed("request");
  expect(breaker.state).toBe("closed");
  breaker.failed("request");
  // Requests in progress when the breaker opened do not count again.
  for (let stray = 0; stray < 8; stray++) breaker.failed("request");
  expect([breaker.state, breaker.pauseMs]).toEqual(["open", 1000]);
  time.now = 1000;
  expect(breaker.state).toBe("half-open");
  // One request tries the replica, and no other.
  expect([breaker.begin(), breaker.begin()]).toEqual([true, false]);
  expect(breaker.state).toBe("open");
  breaker.failed("request");
  expect([breaker.state, breaker.pauseMs]).toEqual(["open", 2000]);
  time.now = 3000;
  breaker.begin();
  breaker.abandoned();
  expect(breaker.state).toBe("half-open");
  breaker.begin();
  breaker.succeeded();
  expect(breaker.state).toBe("closed");
});
