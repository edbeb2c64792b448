// Which hosts a name or an address may mean, as options and Host headers have it.

import { BlockList, isIP, isIPv4 } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const withoutBrackets = (name: string): string => name.replace(/^\[(.*)\]$/, "$1");

/** Whether it is an IP address: DNS cannot make it mean another host. */
export const isAddress = (name: string): boolean => isIP(withoutBrackets(name)) !== 0;

/** Whether it means this machine alone. IPv6 addresses may have brackets. */
export function isLoopback(name: string): boolean {
  const host = withoutBrackets(name);
  if (isIP(host) !== 0) return loopback.check(host, isIPv4(host) ? "ipv4" : "ipv6");
  return host === "localhost" || host.endsWith(".localhost");
}
