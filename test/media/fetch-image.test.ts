// Images over HTTP from servers with any behaviour; no connection to any of them stays open. Requests to real
// networks, which tests must not make, go to a simulated one.

import { afterAll, afterEach, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import type { Address } from "../../src/media/addresses.ts";
import { fetchImage } from "../../src/media/fetch-image.ts";
import type { MediaLimits } from "../../src/media/limits.ts";
import { Refusal } from "../../src/media/refusal.ts";
import { until } from "../support/until.ts";
import { flag, limitsWith, loadImage, quarters, refusal } from "./files.ts";

const png = Buffer.from(await new Bun.Image(flag(64, 32)).png().bytes());
const open = new Set<Socket>();
const seen: string[] = [];

const head = (status: string, ...headers: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, ...headers, "connection: keep-alive", "", ""].join("\r\n");
const redirect = (to: string): string => head("302 Found", `location: ${to}`, "content-length: 0");
const whole = (...headers: readonly string[]) => [head("200 OK", `content-length: ${png.length}`, ...headers), png];

const answers: Record<string, readonly (string | Uint8Array)[]> = {
  "/ok": whole(),
  "/labelled": whole("content-type: text/html"),
  "/until-close": [head("200 OK", "connection: close"), png],
  "/to-ok": [redirect("/ok")],
  "/two-more": [redirect("/to-ok")],
  "/three-more": [redirect("/two-more")],
  "/loop": [redirect("/loop")],
  "/to-file": [redirect("file:///etc/passwd")],
  "/to-data": [redirect("data:image/png;base64,AAAA")],
  "/to-metadata": [redirect("http://169.254.169.254/latest/meta-data")],
  "/to-credentials": [redirect("http://user:secret@127.0.0.1/")],
  "/to-nowhere": [head("302 Found", "content-length: 0")],
  "/redirect-with-body": [head("302 Found", "location: /ok", "content-length: 99999999"), "x".repeat(1000)],
  "/missing": [head("404 Not Found", "content-length: 6"), "secret"],
  "/empty": [head("200 OK", "content-length: 0")],
  "/text": [head("200 OK", "content-length: 6", "content-type: image/png"), "secret"],
  "/announced": [head("200 OK", "content-length: 999999999"), png],
  "/cut-off": [head("200 OK", `content-length: ${png.length + 100}`), png],
  "/gzip-bomb": [
    head("200 OK", "content-encoding: gzip", "connection: close"),
    Bun.gzipSync(new Uint8Array(50_000_000)),
  ],
  "/silent": [],
  "/headers-only": [head("200 OK", "content-length: 100")],
  "/garbage": ["what is this\r\n\r\n"],
};

const server = createServer((socket) => {
  open.add(socket);
  socket.on("close", () => open.delete(socket));
  socket.on("error", () => undefined);
  socket.once("data", (request) => {
    const [line = ""] = request.toString().split("\r\n");
    seen.push(request.toString());
    const path = line.split(" ")[1] ?? "";
    for (const part of answers[path] ?? []) socket.write(part);
    if (["/until-close", "/cut-off", "/gzip-bomb", "/garbage"].includes(path)) socket.end();
    if (path === "/endless") flood(socket);
    if (path === "/drip") drip(socket);
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const port = typeof address === "object" && address ? address.port : 0;
const local = (changes: Partial<MediaLimits> = {}) => limitsWith({ fetchPrivate: true, ...changes });
const load = (target: string, changes: Partial<MediaLimits> = {}) => loadImage(target, local(changes));
const notFetched = "lead to an image within 10 s and 3 redirects; got a URL that does not.";
const notPublic = "lead to an image at a public address within 10 s and 3 redirects; got a URL that does not.";
const url = (path: string): string => `http://127.0.0.1:${port}${path}`;
afterAll(() => void server.close());

function flood(socket: Socket): void {
  socket.write(head("200 OK", "transfer-encoding: chunked"));
  const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  const more = () => {
    while (socket.writable && socket.write(piece));
  };
  socket.on("drain", more);
  more();
}

function drip(socket: Socket): void {
  socket.write(head("200 OK", "content-length: 10000"));
  const timer = setInterval(() => socket.write("x"), 10);
  socket.on("close", () => clearInterval(timer));
}

afterEach(() => until(() => open.size === 0));

test("an image is downloaded, whatever its media type and however its response ends", async () => {
  for (const path of ["/ok", "/labelled", "/until-close", "/redirect-with-body"]) {
    const media = await load(url(path));
    expect([path, media.width, quarters(media).length]).toEqual([path, 64, 4]);
  }
});

test("a host name is requested by name, at the address that was checked", async () => {
  seen.length = 0;
  expect((await load(`HTTP://localhost:${port}/ok`)).width).toBe(64);
  expect(seen.join("")).toMatch(new RegExp(`host: localhost:${port}\r\n`, "i"));
  expect(seen.join("")).not.toMatch(/cookie|authorization|referer/i);
});

test("three redirects are followed, but neither four nor circular ones", async () => {
  expect((await load(url("/three-more"))).width).toBe(64);
  expect(await refusal(load(url("/three-more"), { maxRedirects: 2 }))).toContain(
    "and 2 redirects; got a URL that does",
  );
  seen.length = 0;
  expect(await refusal(load(url("/loop")))).toBe(notFetched);
  expect(seen).toHaveLength(4);
});

test("a redirect must not lead where the URL itself may not", async () => {
  // An empty target means the same URL again.
  for (const path of ["/to-file", "/to-data", "/to-credentials", "/to-metadata", "/to-nowhere"]) {
    expect([path, await refusal(load(url(path)))]).toEqual([path, notFetched]);
  }
});

/** Simulates a network where every URL of `redirects` is redirected and all others are images; records the requests. */
function pretended(
  names: Readonly<Record<string, readonly string[]>>,
  redirects: Readonly<Record<string, string>> = {},
) {
  const lookups: string[] = [];
  const fetched: string[] = [];
  const lookup = (name: string): Promise<Address[]> => {
    lookups.push(name);
    const addresses = names[name];
    if (!addresses) return Promise.reject(new Error("ENOTFOUND"));
    return Promise.resolve(addresses.map((at) => ({ address: at, family: at.includes(":") ? 6 : 4 })));
  };
  const answer = (target: URL): Promise<Response> => {
    fetched.push(target.href);
    const location = redirects[target.href];
    return Promise.resolve(location ? new Response("", { status: 302, headers: { location } }) : new Response(png));
  };
  const ask = (from: string, limits = limitsWith({})): Promise<string> =>
    fetchImage(from, limits, new AbortController().signal, { lookup, fetch: answer }).then(
      ({ length }) => `${length} bytes`,
      (error: unknown) => (error instanceof Refusal ? `${error.rule}; got ${error.got}.` : String(error)),
    );
  return { ask, lookups, fetched };
}

test("the address that was checked is the one requested, and the name is looked up only once", async () => {
  const { ask, lookups, fetched } = pretended({ "pictures.example": ["2606:4700::1111", "1.1.1.1"] });
  expect(await ask("https://pictures.example:8443/a.png?b#c")).toBe(`${png.length} bytes`);
  expect(lookups).toEqual(["pictures.example"]);
  // IPv4 first, because it is more likely to be reachable.
  expect(fetched).toEqual(["https://1.1.1.1:8443/a.png?b#c"]);
});

test("loopback and private addresses are not requested, however they are written", async () => {
  const v4 = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "017700000001",
    "0",
    "10.0.0.1",
    "192.168.1.1.",
    "①27.0.0.1",
  ];
  const v6 = ["[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[64:ff9b::10.0.0.1]", "[fd00::1]", "[fe80::1]"];
  const names = { localhost: ["127.0.0.1"], "lan.example": ["192.168.0.7"], "both.example": ["1.1.1.1", "fd00::7"] };
  for (const host of [...v4, ...v6, ...Object.keys(names), "missing.example"]) {
    const { ask, fetched } = pretended(names);
    expect([host, await ask(`http://${host}/`), fetched]).toEqual([host, notPublic, []]);
  }
});

test("every step of a redirect is checked like the first one", async () => {
  const names = { "a.example": ["1.1.1.1"], "b.example": ["1.0.0.1"], "inside.example": ["10.0.0.1"] };
  const steps = { "http://1.1.1.1/": "https://b.example/x", "https://1.0.0.1/x": "http://inside.example:6379/" };
  const { ask, lookups, fetched } = pretended(names, steps);
  expect(await ask("http://a.example/")).toBe(notPublic);
  expect(lookups).toEqual(["a.example", "b.example", "inside.example"]);
  expect(fetched).toEqual(["http://1.1.1.1/", "https://1.0.0.1/x"]);
});

test("with private addresses allowed, the machine's credentials are still unreachable", async () => {
  const { ask, fetched } = pretended({ "lan.example": ["192.168.0.7"], metadata: ["169.254.169.254"] });
  expect(await ask("http://lan.example/", local())).toBe(`${png.length} bytes`);
  for (const host of ["metadata", "169.254.169.254", "2852039166", "[fd00:ec2::254]", "[::ffff:169.254.169.254]"]) {
    expect([host, await ask(`http://${host}/`, local())]).toEqual([host, notFetched]);
  }
  expect(fetched).toEqual(["http://192.168.0.7/"]);
});

test("an error does not reveal which hosts and ports answer", async () => {
  seen.length = 0;
  for (const at of [url("/ok"), url("/missing"), "http://127.0.0.1:1/"]) {
    expect([at, await refusal(loadImage(at))]).toEqual([at, notPublic]);
  }
  expect(seen).toEqual([]);
});

test("URLs with credentials and invalid URLs are refused", async () => {
  expect(await refusal(loadImage("http://user:secret@127.0.0.1/a.png"))).toBe(
    "have no user name and no password; got a URL with them.",
  );
  expect(await refusal(loadImage("https://"))).toBe("lead to an http or https URL; got a URL that is not valid.");
});

test("downloads can be turned off", async () => {
  seen.length = 0;
  expect(await refusal(load(url("/ok"), { fetch: false }))).toBe(
    "be a data: URL, as this server fetches nothing; got an http(s) URL.",
  );
  expect(seen).toEqual([]);
});

test("other responses are refused without quoting them", async () => {
  expect(await refusal(load(url("/empty")))).toBe("not be empty; got 0 bytes.");
  expect(await refusal(load(url("/text")))).toBe("be a PNG, JPEG, WebP, GIF or BMP image; got text.");
  expect(await refusal(load(url("/cut-off")))).toBe(notFetched);
  expect(await refusal(load(url("/garbage")))).toBe(notFetched);
  expect(await refusal(load(url("/missing")))).toBe(notFetched);
  expect(await refusal(load("http://127.0.0.1:1/"))).toBe(notFetched);
});

test("a file that is announced as too large is not read", async () => {
  expect(await refusal(load(url("/announced")))).toBe("be at most 20 MB; got 1000 MB.");
});

test("a file that is too large is refused as soon as that is known, streamed or compressed", async () => {
  expect(await refusal(load(url("/endless")))).toBe("be at most 20 MB; got a stream of more.");
  expect(await refusal(load(url("/gzip-bomb")))).toBe("be at most 20 MB; got a stream of more.");
});

test("slow servers get the time of one download and no more", async () => {
  for (const path of ["/silent", "/headers-only", "/drip"]) {
    expect([path, await refusal(load(url(path), { fetchTimeoutMs: 150 }))]).toEqual([
      path,
      "lead to an image within 0.15 s and 3 redirects; got a URL that does not.",
    ]);
  }
});

test("an abort ends a download at once, with the abort reason", async () => {
  for (const path of ["/silent", "/drip", "/endless"]) {
    const abort = new AbortController();
    const limits = local({ maxImageBytes: 1e12 });
    const loading = loadImage(url(path), limits, "auto", abort.signal).catch((reason: unknown) => reason);
    await Bun.sleep(50);
    abort.abort("gone");
    expect(await loading).toBe("gone");
  }
});
