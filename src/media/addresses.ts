// Which addresses a URL may lead to: not those where cloud machines hand out their credentials.

import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { Refusal } from "./refusal.ts";
import { abortable } from "./slices.ts";

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** Link-local, and metadata services with addresses of their own. IPv4 counts in every IPv6 form that carries it. */
const forbidden: readonly (readonly [string, number, "ipv4" | "ipv6"])[] = [
  ["169.254.0.0", 16, "ipv4"],
  ["100.100.100.200", 32, "ipv4"],
  ["168.63.129.16", 32, "ipv4"],
  ["fe80::", 10, "ipv6"],
  ["fd00:ec2::254", 128, "ipv6"],
  // NAT64, 6to4 and the old IPv4-compatible form of 169.254.0.0/16; the mapped form is known to BlockList.
  ["64:ff9b::a9fe:0", 112, "ipv6"],
  ["2002:a9fe::", 32, "ipv6"],
  ["::a9fe:0", 112, "ipv6"],
];

/** The addresses of a URL's host, IPv4 first. Throws Refusal when there is none, or when one of them is forbidden. */
export async function resolveHost(hostname: string, signal: AbortSignal): Promise<readonly Address[]> {
  const literal = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(literal);
  const addresses = family ? [{ address: literal, family }] : await ask(hostname, signal);
  if (addresses.some(isForbidden)) {
    throw new Refusal("not lead to a link-local or metadata address", "a host that resolves to one");
  }
  // One that cannot be reached costs the time of the whole request, and IPv6 is the more likely one.
  return addresses.toSorted((a, b) => a.family - b.family);
}

async function ask(hostname: string, signal: AbortSignal): Promise<readonly Address[]> {
  try {
    const addresses = await abortable(lookup(hostname, { all: true }), signal);
    if (addresses.length > 0) return addresses;
  } catch {
    signal.throwIfAborted();
  }
  throw new Refusal("name a host that can be found", "a host name without an address");
}

/** Whether an address is one that no client may make the server talk to. */
export function isForbidden({ address, family }: Address): boolean {
  const list = new BlockList();
  for (const [network, prefix, type] of forbidden) list.addSubnet(network, prefix, type);
  const [plain = ""] = address.split("%");
  return list.check(plain, family === 6 ? "ipv6" : "ipv4");
}
