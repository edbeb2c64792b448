// `svc qr`: shows the address of a running server's web page as a QR code for phones.

import type { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import encodeQr from "qr";
import { isEverywhere, isLoopback, withoutBrackets } from "../config/host-name.ts";
import { ownNetworks } from "../media/own-networks.ts";
import { isFor, namesOf } from "./agent-trust.ts";
import { ExitError } from "./exit-codes.ts";
import { lanAddresses } from "./reachable.ts";
import { routedAddresses } from "./routed-addresses.ts";
import { serverUrl, type Where } from "./running-server.ts";
import { writeOut } from "./write-out.ts";

const TIMEOUT_MS = 2000;
/** Light modules around the code; without them scanners do not find it. */
const BORDER = 2;

/** Prints the code and the address. Throws ExitError when other machines cannot reach a server at the port. */
export async function showQr(config: Where): Promise<void> {
  const addresses = lanAddresses(ownNetworks(), await routedAddresses());
  const url = `${await addressForOthers(config, addresses)}/`;
  const isShownInColours = process.stdout.isTTY && process.stdout.hasColors();
  await writeOut(`${qrText(url, isShownInColours)}\n${url}\n`);
}

/**
 * Returns the first of `addresses`, this machine's, at which a server answers, or a name in its certificate. When --host
 * names an address, only that one is tried. Throws ExitError.
 */
export async function addressForOthers(
  { host, port, tls, apiKeys }: Where,
  addresses: readonly string[],
  answers: (url: string) => Promise<boolean> = isAnswering,
): Promise<string> {
  const isNamed = !isLoopback(host) && !isEverywhere(host);
  const schemes = [tls !== undefined, tls === undefined];
  for (const address of isNamed ? [host] : addresses) {
    for (const isEncrypted of schemes) {
      const url = serverUrl({ host: address, port, apiKeys }).replace(/^http:/, isEncrypted ? "https:" : "http:");
      if (await answers(url)) return isEncrypted ? nameFor(url, port, answers) : url;
    }
  }
  const here = serverUrl({ host: "127.0.0.1", port, apiKeys });
  const isHere = (await answers(here)) || (await answers(here.replace("http:", "https:")));
  throw new ExitError(
    "failure",
    isHere
      ? `The server at port ${port} is for this machine alone. Other machines can reach a server that is started with --host 0.0.0.0 --api-key-file FILE.`
      : `No svc answers at port ${port} of this machine; choose another port with --port.`,
  );
}

/**
 * Returns `url` with a name from the server's certificate as its host, if the certificate does not cover `url` and the
 * server answers at that name; else `url`.
 */
async function nameFor(url: string, port: number, answers: (url: string) => Promise<boolean>): Promise<string> {
  const certificate = await certificateAt(withoutBrackets(new URL(url).hostname), port);
  if (!certificate || isFor(certificate, url)) return url;
  for (const name of namesOf(certificate)) {
    const named = `https://${name}:${port}`;
    if (!isLoopback(name) && (await answers(named))) return named;
  }
  return url;
}

/** Returns the certificate that the server presents; undefined when it cannot be fetched. */
function certificateAt(host: string, port: number): Promise<X509Certificate | undefined> {
  const { promise, resolve } = Promise.withResolvers<X509Certificate | undefined>();
  const socket = connect({ host, port, rejectUnauthorized: false }, () => {
    resolve(socket.getPeerX509Certificate());
    socket.destroy();
  });
  socket.on("error", () => resolve(undefined)).setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("timeout")));
  return promise;
}

/** Returns whether /health at this URL responds with a status; the request carries no API key. */
async function isAnswering(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`${url}/health`, { signal, tls: { rejectUnauthorized: false } });
    return "status" in ((await response.json()) as object);
  } catch {
    return false;
  }
}

/** Draws the light modules as half blocks, two rows per line. Colours make the code look alike on all terminals. */
export function qrText(text: string, isInColours: boolean): string {
  const rows = encodeQr(text, "raw", { border: BORDER });
  const line = (upper: readonly boolean[], lower: readonly boolean[] | undefined) =>
    upper.map((isDark, at) => BLOCKS[`${isDark}-${lower?.[at] ?? true}`]).join("");
  const lines = rows.flatMap((row, at) => (at % 2 === 0 ? [line(row, rows[at + 1])] : []));
  return lines.map((one) => (isInColours ? `\x1b[97;40m${one}\x1b[0m` : one)).join("\n");
}

/** Characters, by whether the upper and the lower module are dark. */
const BLOCKS: Readonly<Record<`${boolean}-${boolean}`, string>> = {
  "true-true": " ",
  "true-false": "▄",
  "false-true": "▀",
  "false-false": "█",
};
