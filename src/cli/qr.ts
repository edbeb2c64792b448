// `svc qr`: the web page of a running server as a code that a phone's camera reads.

import type { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import encodeQr from "qr";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/host-name.ts";
import { isFor, namesOf } from "./agent-trust.ts";
import { ExitError, exitCodes } from "./exit-codes.ts";
import { lanAddresses } from "./reachable.ts";
import { serverUrl, type Where } from "./running-server.ts";
import { writeOut } from "./write-out.ts";

const TIMEOUT_MS = 2000;
/** Light modules around the code, without which it is not found. */
const BORDER = 2;

/** Prints the code, and the address below it. Throws ExitError when other machines cannot reach a server at the port. */
export async function showQr(config: Config): Promise<number> {
  const url = `${await addressForOthers(config)}/`;
  const isShownInColours = process.stdout.isTTY && process.stdout.hasColors();
  await writeOut(`${qrText(url, isShownInColours)}\n${url}\n`);
  return exitCodes.ok.code;
}

/** The first of the machine's addresses at which a server answers, or a name of its certificate; where --host names one, that. Throws ExitError. */
export async function addressForOthers(
  { host, port, tls, apiKeys }: Where,
  addresses: readonly string[] = lanAddresses(),
  answers: (url: string) => Promise<boolean> = isAnswering,
): Promise<string> {
  const isNamed = !isLoopback(host) && host !== "0.0.0.0" && host !== "::";
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
      ? `The server at port ${port} is for this machine alone. Others reach one that is started with --host 0.0.0.0 --api-key-file FILE.`
      : `No svc answers at port ${port} of this machine; --port names another.`,
  );
}

/** The address by a name that the server's certificate is for, where it is not for this one and the server answers to that name. */
async function nameFor(url: string, port: number, answers: (url: string) => Promise<boolean>): Promise<string> {
  const certificate = await certificateAt(new URL(url).hostname.replace(/^\[|\]$/g, ""), port);
  if (!certificate || isFor(certificate, url)) return url;
  for (const name of namesOf(certificate)) {
    const named = `https://${name}:${port}`;
    if (!isLoopback(name) && (await answers(named))) return named;
  }
  return url;
}

/** The certificate that is shown there. */
function certificateAt(host: string, port: number): Promise<X509Certificate | undefined> {
  const { promise, resolve } = Promise.withResolvers<X509Certificate | undefined>();
  const socket = connect({ host, port, rejectUnauthorized: false }, () => {
    resolve(socket.getPeerX509Certificate());
    socket.destroy();
  });
  socket.on("error", () => resolve(undefined)).setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("timeout")));
  return promise;
}

/** Whether a server says there that it is well or loading; nothing secret is sent. */
async function isAnswering(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`${url}/health`, { signal, tls: { rejectUnauthorized: false } });
    return "status" in ((await response.json()) as object);
  } catch {
    return false;
  }
}

/** The code in half blocks: two rows of modules a line, light ones drawn. In colours it is the same on every terminal. */
export function qrText(text: string, isInColours: boolean): string {
  const rows = encodeQr(text, "raw", { border: BORDER });
  const line = (upper: readonly boolean[], lower: readonly boolean[] | undefined) =>
    upper.map((isDark, at) => BLOCKS[`${isDark}-${lower?.[at] ?? true}`]).join("");
  const lines = rows.flatMap((row, at) => (at % 2 === 0 ? [line(row, rows[at + 1])] : []));
  return lines.map((one) => (isInColours ? `\x1b[97;40m${one}\x1b[0m` : one)).join("\n");
}

/** By whether the upper and the lower module are dark. */
const BLOCKS: Readonly<Record<`${boolean}-${boolean}`, string>> = {
  "true-true": " ",
  "true-false": "▄",
  "false-true": "▀",
  "false-false": "█",
};
