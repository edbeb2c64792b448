// svc must predict which proxy Bun's `fetch` uses: each case is also requested with `fetch`.

import { afterAll, afterEach, expect, test } from "bun:test";
import { proxyFor } from "../../src/config/proxy.ts";

const NAMES = [
  "HTTP_PROXY",
  "http_proxy",
  "HTTPS_PROXY",
  "https_proxy",
  "ALL_PROXY",
  "all_proxy",
  "NO_PROXY",
  "no_proxy",
];
const before = NAMES.map((name) => [name, process.env[name]] as const);
const setEnvironment = (values: Iterable<readonly [string, string | undefined]>) => {
  for (const name of NAMES) delete process.env[name];
  for (const [name, value] of values) if (value !== undefined) process.env[name] = value;
};
const proxy = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("through the proxy") });
const AT = `127.0.0.1:${proxy.port}`;

afterEach(() => setEnvironment(before));
afterAll(() => proxy.stop(true));

/** Nothing listens at these addresses, so only a proxy can answer. */
const ask = (url: string) =>
  fetch(url).then(
    (response) => response.text(),
    () => "nobody",
  );

test.each([
  [{}, "http://127.0.0.2:1/", undefined],
  [{ HTTP_PROXY: `http://${AT}` }, "http://127.0.0.2:1/", `http://${AT}/`],
  [{ http_proxy: AT }, "http://127.0.0.2:1/", `http://${AT}/`],
  [{ ALL_PROXY: `http://${AT}` }, "http://127.0.0.2:1/", `http://${AT}/`],
  [{ HTTPS_PROXY: `http://${AT}` }, "http://127.0.0.2:1/", undefined],
  [{ http_proxy: `http://${AT}`, HTTP_PROXY: "http://127.0.0.1:1" }, "http://127.0.0.2:1/", `http://${AT}/`],
  [{ http_proxy: `socks5://${AT}` }, "http://127.0.0.2:1/", undefined],
] as const)("the environment %j", async (environment, url, expected) => {
  setEnvironment(Object.entries(environment));
  expect(proxyFor(url, process.env)).toBe(expected);
  expect(await ask(url)).toBe(expected === undefined ? "nobody" : "through the proxy");
});

test.each([
  ["*", "http://127.0.0.2:1/", true],
  ["a.example, *", "http://127.0.0.2:1/", true],
  ["127.0.0.2", "http://127.0.0.2:1/", true],
  ["127.0.0.2:1", "http://127.0.0.2:1/", true],
  ["127.0.0.2:2", "http://127.0.0.2:1/", false],
  ["0.0.2", "http://127.0.0.2:1/", false],
  ["127.0.0.0/30", "http://127.0.0.2:1/", true],
  ["127.0.0.0/31", "http://127.0.0.2:1/", false],
  ["127.0.0.0/x", "http://127.0.0.2:1/", false],
  ["LOCALHOST", "http://localhost:1/", true],
  [".localhost", "http://localhost:1/", true],
  ["host", "http://localhost:1/", false],
  ["other.example localhost", "http://localhost:1/", true],
  ["[::1]:1", "http://[::1]:1/", true],
  ["[::1]:2", "http://[::1]:1/", false],
  ["::/0", "http://[::1]:1/", true],
] as const)("the exception %p for %s", async (noProxy, url, isDirect) => {
  setEnvironment([
    ["http_proxy", `http://${AT}`],
    ["no_proxy", noProxy],
  ]);
  expect(proxyFor(url, process.env) === undefined).toBe(isDirect);
  expect(await ask(url)).toBe(isDirect ? "nobody" : "through the proxy");
});

test("https uses a separate proxy variable", () => {
  const environment = { https_proxy: "http://p.example:3128", no_proxy: "near.example" };
  expect(proxyFor("https://far.example", environment)).toBe("http://p.example:3128/");
  expect(proxyFor("https://gpu.near.example", environment)).toBeUndefined();
  expect(proxyFor("http://far.example", environment)).toBeUndefined();
});
