// Which addresses a URL of a client's may lead to: those that the whole internet reaches, unless the operator allows more.
// Whatever is trusted for being near this server must not be read through it.

import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { abortable } from "../domain/abortable.ts";

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** The addresses of a host name. */
export type Lookup = (hostname: string) => Promise<readonly Address[]>;

/** IPv6 that is given out, and the two forms in which IPv4 comes as IPv6: mapped, and through NAT64. */
const assigned = ["2000::/3", "::ffff:0:0/96", "64:ff9b::/96"];

/** What in there is of special use, by IANA's registries. */
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

/** Where cloud machines hand out their credentials: link-local, and metadata services with addresses of their own. */
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
  // 169.254.0.0/16 by 6to4.
  "2002:a9fe::/32",
];

/**
 * The addresses of a URL's host, IPv4 first: none where it has none, or one that must not be fetched from. `privateToo`:
 * all but link-local and metadata addresses may be. Throws the signal's reason.
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
  // One that cannot be reached costs the time of the whole request, and IPv6 is the more likely one.
  return addresses.toSorted((a, b) => a.family - b.family);
}

/**
 * Tells whether an address may be fetched from. IPv4 counts in every IPv6 form that carries it. `near`: networks that this
 * machine is on. Public ones, too, have behind their firewall what the internet does not reach, and its own addresses are as
 * good as loopback.
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

/** As far as the system tells: a sandbox may hide them. */
function nearNetworks(): string[] {
  try {
    const found = Object.values(networkInterfaces()).flat();
    return found.flatMap((network) => network?.cidr ?? []);
  } catch {
    return [];
  }
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const prefix = Number(bits);
    list.addSubnet(address, prefix, isIP(address) === 6 ? "ipv6" : "ipv4");
    if (isIP(address) === 6) continue;
    // NAT64 and the old compatible form; the mapped form is known to BlockList.
    for (const form of ["64:ff9b::", "::"]) list.addSubnet(`${form}${address}`, 96 + prefix, "ipv6");
  }
  return list;
}
