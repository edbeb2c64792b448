import { afterEach, expect, test } from "bun:test";
import { keepLoopbackFromProxies } from "../../src/config/environment.ts";

const NAMES = ["HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"];
const before = NAMES.map((name) => process.env[name]);
afterEach(() => {
  for (const [at, name] of NAMES.entries()) {
    if (before[at] === undefined) delete process.env[name];
    else process.env[name] = before[at];
  }
});

test("addresses on this machine are requested directly, whatever proxy the environment names", async () => {
  const answering = (text: string) => Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(text) });
  const [server, proxy] = [answering("server"), answering("proxy")];
  const ask = async (host: string) => (await fetch(`http://${host}:${server.port}/`)).text();
  for (const name of NAMES) delete process.env[name];
  process.env["HTTP_PROXY"] = `http://127.0.0.1:${proxy.port}`;
  expect(await ask("127.0.0.1")).toBe("proxy");
  keepLoopbackFromProxies();
  expect([await ask("127.0.0.1"), await ask("localhost"), await ask("elsewhere.example")]).toEqual([
    "server",
    "server",
    "proxy",
  ]);
  await Promise.all([server.stop(true), proxy.stop(true)]);
});

test.each([
  [{}, "localhost,127.0.0.0/8,::1"],
  [{ NO_PROXY: "a.example" }, "a.example,localhost,127.0.0.0/8,::1"],
  [{ NO_PROXY: "a.example", no_proxy: "b.example" }, "b.example,localhost,127.0.0.0/8,::1"],
])("existing exceptions are kept: %j", (environment: Record<string, string>, expected) => {
  keepLoopbackFromProxies(environment);
  expect(environment["no_proxy"]).toBe(expected);
});
