// Determines the addresses of a server, for this machine and for others.

import { X509Certificate } from "node:crypto";
import { isIPv4 } from "node:net";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/host-name.ts";
import { ownNetworks } from "../media/own-networks.ts";
import { isFor } from "./agent-trust.ts";
import { serverUrl, type Where } from "./running-server.ts";

/** Interfaces that belong to internal networks of other programs. */
const VIRTUAL = /^(docker|br-|veth|virbr|vmnet|vboxnet|cni|flannel|podman|lxc)/;

export interface Reachable {
  /** Address for programs on this machine, without a trailing slash. */
  readonly here: string;
  /** Addresses for other machines, the most likely first; absent when the server listens on loopback. */
  readonly others?: readonly string[];
}

/** Returns the addresses of a server that listens on `host`; with HTTPS, those that its certificate covers, if any. */
export function reachable(where: Where & Pick<Config, "allowedHosts">, interfaces = ownNetworks()): Reachable {
  const { host, tls, allowedHosts } = where;
  const urls = (hosts: readonly string[]) => hosts.map((one) => serverUrl({ ...where, host: one }));
  const certificate = tls && new X509Certificate(tls.cert);
  const fitting = (all: string[]) => all.filter((url) => certificate && isFor(certificate, url));
  const named = fitting(urls(allowedHosts));
  const own = serverUrl(where);
  const here = (local: readonly string[]) => fitting([own, ...urls(local), ...named])[0] ?? own;
  if (isLoopback(host)) return { here: here(["localhost"]) };
  if (host !== "0.0.0.0" && host !== "::") return { here: here([]), others: named.length > 0 ? named : [own] };
  const addresses = urls(lanAddresses(interfaces));
  const shown = [...named, ...fitting(addresses)];
  return { here: here(["localhost"]), others: shown.length > 0 ? shown : addresses };
}

/** Returns the machine's network addresses: IPv4 if there are any, virtual networks only if there are no others. */
export function lanAddresses(interfaces = ownNetworks()): string[] {
  const all = Object.entries(interfaces).flatMap(([name, addresses = []]) =>
    addresses
      .filter(({ internal, address }) => !internal && !/^(169\.254\.|fe80:)/i.test(address))
      .map(({ address }) => ({ address, isVirtual: VIRTUAL.test(name) })),
  );
  const real = all.some(({ isVirtual }) => !isVirtual) ? all.filter(({ isVirtual }) => !isVirtual) : all;
  const [v4 = [], v6 = []] = [true, false].map((wanted) =>
    real.map(({ address }) => address).filter((address) => isIPv4(address) === wanted),
  );
  return v4.length > 0 ? v4 : v6;
}
