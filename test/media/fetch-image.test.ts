// Images over HTTP from servers that behave in every way; none of them is left connected.

import { afterAll, afterEach, expect, test } from "bun:test";
import { createServer, isIP, type Socket } from "node:net";
import { isForbidden } from "../../src/media/addresses.ts";
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

afterEach(async () => {
  const deadline = performance.now() + 2000;
  while (open.size > 0 && performance.now() < deadline) await Bun.sleep(5);
  expect(open.size).toBe(0);
});

test("an image is fetched, whatever the server calls it and however it ends", async () => {
  for (const path of ["/ok", "/labelled", "/until-close", "/redirect-with-body"]) {
    const media = await loadImage(url(path));
    expect([path, media.width, quarters(media).length]).toEqual([path, 64, 4]);
  }
});

test("a host name is asked for by its name, at the address that was checked", async () => {
  seen.length = 0;
  expect((await loadImage(`HTTP://localhost:${port}/ok`)).width).toBe(64);
  expect(seen.join("")).toMatch(new RegExp(`host: localhost:${port}\r\n`, "i"));
  expect(seen.join("")).not.toMatch(/cookie|authorization|referer/i);
});

test("three redirects are followed, not four, and not in circles", async () => {
  expect((await loadImage(url("/three-more"))).width).toBe(64);
  const two = limitsWith({ maxRedirects: 2 });
  expect(await refusal(loadImage(url("/three-more"), two))).toBe("lead there in at most 2 redirects; got one more.");
  seen.length = 0;
  expect(await refusal(loadImage(url("/loop")))).toBe("lead there in at most 3 redirects; got one more.");
  expect(seen).toHaveLength(4);
});

test("a redirect leads to no place that the URL itself may not name", async () => {
  const elsewhere = "lead to an http or https URL; got a redirect to something else.";
  expect(await refusal(loadImage(url("/to-file")))).toBe(elsewhere);
  expect(await refusal(loadImage(url("/to-data")))).toBe(elsewhere);
  expect(await refusal(loadImage(url("/to-credentials")))).toBe(
    "have no user name and no password; got a redirect with them.",
  );
  expect(await refusal(loadImage(url("/to-metadata")))).toBe(
    "not lead to a link-local or metadata address; got a host that resolves to one.",
  );
  // An empty target is the same place again.
  expect(await refusal(loadImage(url("/to-nowhere")))).toBe("lead there in at most 3 redirects; got one more.");
});

test("no spelling of a link-local address is fetched", async () => {
  const spellings = [
    "169.254.169.254",
    "2852039166",
    "0xA9FEA9FE",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.254.1.1.",
  ];
  const six = ["[fe80::1]", "[febf::1]", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[fd00:ec2::254]"];
  for (const host of [...spellings, ...six]) {
    expect([host, await refusal(loadImage(`http://${host}/`))]).toEqual([
      host,
      "not lead to a link-local or metadata address; got a host that resolves to one.",
    ]);
  }
});

const FF = "ffff:ffff:ffff:ffff:ffff:ffff";

test.each([
  ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
  ["100.100.100.199", "100.100.100.200", "100.100.100.200", "100.100.100.201"],
  ["168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"],
  [`fe7f:ffff:${FF}`, "fe80::", `febf:ffff:${FF}`, "fec0::"],
  ["fd00:ec2::253", "fd00:ec2::254", "fd00:ec2::254", "fd00:ec2::255"],
  ["64:ff9b::a9fd:ffff", "64:ff9b::a9fe:0", "64:ff9b::a9fe:ffff", "64:ff9b::a9ff:0"],
  [`2002:a9fd:${FF}`, "2002:a9fe::", `2002:a9fe:${FF}`, "2002:a9ff::"],
  ["::a9fd:ffff", "::a9fe:0", "::a9fe:ffff", "::a9ff:0"],
  ["::ffff:169.253.255.255", "::ffff:169.254.0.0", "::ffff:169.254.255.255", "::ffff:169.255.0.0"],
  ["::ffff:100.100.100.199", "::ffff:100.100.100.200", "fe80::1%eth0", "2001:db8::1"],
])("%s may be fetched, %s to %s may not, %s may", (before, first, last, after) => {
  const addresses = [before, first, last, after].map((address) => ({
    address,
    family: isIP(address.split("%")[0] ?? ""),
  }));
  expect(addresses.map(isForbidden)).toEqual([false, true, true, false]);
});

test("URLs with credentials, and what is no URL, are refused", async () => {
  expect(await refusal(loadImage("http://user:secret@127.0.0.1/a.png"))).toBe(
    "have no user name and no password; got a URL with them.",
  );
  expect(await refusal(loadImage("https://"))).toBe("lead to an http or https URL; got a URL that is not valid.");
  expect(await refusal(loadImage("http://no-such-host.invalid/"))).toBe(
    "name a host that can be found; got a host name without an address.",
  );
});

test("fetching can be turned off", async () => {
  seen.length = 0;
  expect(await refusal(loadImage(url("/ok"), limitsWith({ fetch: false })))).toBe(
    "be a data: URL, as this server fetches nothing; got an http(s) URL.",
  );
  expect(seen).toEqual([]);
});

test("other answers are refused without a word of them", async () => {
  const failed = "be a URL that can be fetched; got a connection that failed.";
  expect(await refusal(loadImage(url("/missing")))).toBe("be a URL that answers with an image; got status 404.");
  expect(await refusal(loadImage(url("/empty")))).toBe("not be empty; got 0 bytes.");
  expect(await refusal(loadImage(url("/text")))).toBe("be a PNG, JPEG, WebP, GIF or BMP image; got text.");
  expect(await refusal(loadImage(url("/cut-off")))).toBe(failed);
  expect(await refusal(loadImage(url("/garbage")))).toBe(failed);
  expect(await refusal(loadImage("http://127.0.0.1:1/"))).toBe(failed);
});

test("a file that is announced as too large is not even read", async () => {
  expect(await refusal(loadImage(url("/announced")))).toBe("be at most 20 MB; got 1000 MB.");
});

test("a file that is too large is refused when that is seen, be it streamed or packed", async () => {
  expect(await refusal(loadImage(url("/endless")))).toBe("be at most 20 MB; got a stream of more.");
  expect(await refusal(loadImage(url("/gzip-bomb")))).toBe("be at most 20 MB; got a stream of more.");
});

test("slow servers have the time of one fetch, and no more", async () => {
  const hasty = limitsWith({ fetchTimeoutMs: 150 });
  for (const path of ["/silent", "/headers-only", "/drip"]) {
    expect([path, await refusal(loadImage(url(path), hasty))]).toEqual([
      path,
      "be fetched within 150 ms; got a server that takes longer.",
    ]);
  }
});

test("an abort ends a fetch at once, with its reason", async () => {
  for (const path of ["/silent", "/drip", "/endless"]) {
    const abort = new AbortController();
    const limits = limitsWith({ maxImageBytes: 1e12 });
    const loading = loadImage(url(path), limits, "auto", abort.signal).catch((reason: unknown) => reason);
    await Bun.sleep(50);
    abort.abort("gone");
    expect(await loading).toBe("gone");
  }
});
