import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { addressForOthers, qrText } from "../../src/cli/qr.ts";
import { readTls } from "../../src/config/tls.ts";
import { loadBarcodeReader } from "../../src/engine/recognition/child/barcodes.ts";
import { serve } from "../http/harness.ts";
import { freePort } from "../support/free-port.ts";

const fixture = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
const tls = readTls({ cert: fixture("cert.pem"), key: fixture("key.pem") });
const SIDE = 4;

/** Returns the picture that a camera would take of half blocks, light on a dark terminal. */
function photographed(text: string) {
  const rows = text
    .split("\n")
    .flatMap((line) => [
      [...line].map((block) => block === "█" || block === "▀"),
      [...line].map((block) => block === "█" || block === "▄"),
    ]);
  const width = (rows[0]?.length ?? 0) * SIDE;
  const data = rows.flatMap((row) => {
    const pixels = row.flatMap((isLight) => Array<number>(SIDE).fill(isLight ? 255 : 0));
    return Array<number[]>(SIDE).fill(pixels).flat();
  });
  return { width, height: rows.length * SIDE, data: Uint8Array.from(data) };
}

test("a camera can read the address", async () => {
  const readCodes = await loadBarcodeReader();
  for (const url of ["http://192.168.1.5:9999/", "https://[2001:db8::5]:8443/"]) {
    const found = await readCodes(photographed(qrText(url, false)));
    expect(found.map(({ payload }) => payload)).toEqual([url]);
  }
});

test("coloured codes look the same on light and dark terminals", () => {
  for (const line of qrText("http://192.168.1.5:9999/", true).split("\n")) {
    expect(line).toStartWith("\u001b[97;40m");
    expect(line).toEndWith("\u001b[0m");
  }
});

describe("the address for other machines", () => {
  const where = (port: number) => ({ host: "127.0.0.1", port, apiKeys: [] });

  test("is the first at which the server answers, with or without TLS", async () => {
    const plain = serve(undefined, { host: "127.0.0.2" });
    expect(await addressForOthers(where(plain.port), ["127.0.0.3", "127.0.0.2"])).toBe(
      `http://127.0.0.2:${plain.port}`,
    );
    const { port } = serve(undefined, { host: "127.0.0.2", ...(tls && { tls }) });
    expect(await addressForOthers(where(port), ["127.0.0.2"])).toBe(`https://127.0.0.2:${port}`);
  });

  test("has the host name of the certificate if the server answers to it", async () => {
    const boxed = readTls({ cert: fixture("box.pem"), key: fixture("key.pem") });
    const { port } = serve(undefined, { host: "127.0.0.2", ...(boxed && { tls: boxed }) });
    const address = `https://127.0.0.2:${port}`;
    const found = (known: readonly string[]) =>
      addressForOthers(where(port), ["127.0.0.2"], async (url) => known.includes(url));
    expect(await found([address, `https://box:${port}`])).toBe(`https://box:${port}`);
    expect(await found([address])).toBe(address);
  });

  test("is an error for a server on loopback, which says how to listen for others", async () => {
    const { port } = serve();
    await expect(addressForOthers(where(port), ["127.0.0.2"])).rejects.toThrow(
      `The server at port ${port} is for this machine alone. Other machines can reach a server that is started with --host 0.0.0.0`,
    );
  });

  test("is an error without a server", async () => {
    await expect(addressForOthers(where(await freePort()), ["127.0.0.2"])).rejects.toThrow("No svc answers at port");
  });
});
