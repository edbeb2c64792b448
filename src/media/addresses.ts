// Decides which addresses a client's URL may lead to: public ones only, unless the operator allows more. Clients must
// not reach, through this server, services that trust it because of its place in the network.

import { BlockList, isIP } from "node:net";
import { abortable } from "../domain/abortable.ts";
import { ownNetworks } from "./own-networks.ts";

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** Resolves a host name to its addresses. */
export type Lookup = (hostname: string) => Promise<readonly Address[]>;

/** Allocated IPv6, and two forms of IPv4 in IPv6: mapped, and NAT64. */
const assigned = ["2000::/3", "::ffff:0:0/96", "64:ff9b::/96"];

/** Special-purpose networks within these, from IANA's registries. */
const special = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
];

/** Networks where cloud machines serve credentials: link-local, and metadata services with other addresses. */
const metadata = [
  "169.254.0.0/16",
  "100.96.0.96/32",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "fe80::/10",
  "fd00:42::42/128",
  "fd00:100::100:200/128",
  "fd00:a9fe:a9fe::1/128",
  "fd00:c1::a9fe:a9fe/128",
  "fd00:ec2::/32",
  "fd20:ce::254/128",
  // 169.254.0.0/16 in 6to4.
  "2002:a9fe::/32",
];

/**
 * Returns the addresses of a URL's host, IPv4 first; none when the host has none, or has one that must not be fetched
 * from. `privateToo` allows all but link-local and metadata addresses. Throws the signal's reason.
 */
export async function allowedAddresses(
  hostname: string,
  privateToo: boolean,
  lookup: Lookup,
  signal: AbortSignal,
): Promise<readonly Address[]> {
  const literal = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(literal);
  const addresses = family ? [{ address: literal, family }] : await abortable(lookup(hostname), signal);
  if (!addresses.every(addressFilter(privateToo))) return [];
  // IPv6 is more often unreachable, and an unreachable address uses up the time of the whole request.
  return addresses.toSorted((a, b) => a.family - b.family);
}

/**
 * Returns a function that decides whether an address may be fetched from. It recognizes IPv4 in the IPv6 forms that
 * carry it. `near`: networks of this machine. They are blocked even when public: hosts there may be behind the same
 * firewall, and the machine's own addresses are equivalent to loopback.
 */
export function addressFilter(privateToo: boolean, near = nearNetworks()): (address: Address) => boolean {
  const open = listOf(assigned);
  const closed = listOf(privateToo ? metadata : [...metadata, ...special, ...near]);
  return ({ address, family }) => {
    const [plain = ""] = address.split("%");
    const type = family === 6 ? "ipv6" : "ipv4";
    return (privateToo || family === 4 || open.check(plain, type)) && !closed.check(plain, type);
  };
}

/** Returns the networks of this machine. */
const nearNetworks = (): string[] =>
  Object.values(ownNetworks())
    .flat()
    .flatMap((network) => network?.cidr ?? []);

/** NAT64 (RFC 6052 and, at its usual place, RFC 8215), translated (RFC 7915), IPv4-compatible. BlockList does mapped. */
const EMBEDDINGS = ["64:ff9b::", "64:ff9b:1::", "::ffff:0:", "::"] as const;

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const prefix = Number(bits);
    list.addSubnet(address, prefix, isIP(address) === 6 ? "ipv6" : "ipv4");
    if (isIP(address) === 6) continue;
    for (const form of EMBEDDINGS) list.addSubnet(`${form}${address}`, 96 + prefix, "ipv6");
  }
  return list;
}
