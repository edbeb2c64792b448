// Classifies host names and addresses of options and Host headers.

import { BlockList, isIP, isIPv4 } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Removes the brackets that IPv6 addresses have in URLs. */
export const withoutBrackets = (name: string): string => name.replace(/^\[(.*)\]$/, "$1");

/** Returns whether the name is an IP address, which DNS cannot point to another host. */
export const isAddress = (name: string): boolean => isIP(withoutBrackets(name)) !== 0;

/** Returns whether a server on this address listens on every interface. */
export const isEverywhere = (host: string): boolean => host === "0.0.0.0" || host === "::";

/** Returns whether the name always means this machine. IPv6 addresses may have brackets. */
export function isLoopback(name: string): boolean {
  const host = withoutBrackets(name);
  if (isIP(host) !== 0) return loopback.check(host, isIPv4(host) ? "ipv4" : "ipv6");
  return host === "localhost" || host.endsWith(".localhost");
}
