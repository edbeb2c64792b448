// Finds the proxy for an address in the environment, like Bun's `fetch`.

import { BlockList, isIP } from "node:net";
import type { Environment } from "./environment.ts";
import { withoutBrackets } from "./host-name.ts";

/** Returns the proxy's address; undefined if `fetch` connects directly or cannot use the proxy. */
export function proxyFor(address: string, environment: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(address);
  // The lower-case variable takes precedence if both are set.
  const variable = (name: string) => environment[name] || environment[name.toUpperCase()] || undefined;
  const named = variable(protocol === "https:" ? "https_proxy" : "http_proxy") ?? variable("all_proxy");
  if (named === undefined) return undefined;
  const proxy = URL.parse(named.includes("://") ? named : `http://${named}`);
  if (!proxy || !/^https?:$/.test(proxy.protocol)) return undefined;
  const at = port || (protocol === "https:" ? "443" : "80");
  const exceptions = (variable("no_proxy") ?? "").toLowerCase().split(/[\s,]+/);
  return exceptions.some((entry) => isExcepted(entry, withoutBrackets(hostname), at)) ? undefined : proxy.href;
}

/** `entry`: a host, a domain suffix, an address or a range (`10.0.0.0/8`), each optionally with a port, or `*`. */
function isExcepted(entry: string, host: string, port: string): boolean {
  if (entry === "*" || isInRange(entry, host)) return true;
  const [, name = "", only = port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (only !== port || name === "") return false;
  if (isIP(host) !== 0) return isInRange(withoutBrackets(name), host);
  const domain = name.replace(/^\*?\./, "");
  return host === domain || host.endsWith(`.${domain}`);
}

/** Returns whether `host` is the address `entry` or within the range `entry`. */
function isInRange(entry: string, host: string): boolean {
  const [, address = "", given] = /^([^/]+)(?:\/(\d+))?$/.exec(entry) ?? [];
  const family = isIP(address);
  const most = family === 4 ? 32 : 128;
  const bits = Number(given ?? most);
  if (family === 0 || family !== isIP(host) || bits > most) return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const range = new BlockList();
  range.addSubnet(address, bits, type);
  return range.check(host, type);
}
