// Determines the addresses of a server, for this machine and for others.

import { X509Certificate } from "node:crypto";
import { isIPv4 } from "node:net";
import type { Config } from "../config/config.ts";
import { isEverywhere, isLoopback } from "../config/host-name.ts";
import { ownNetworks } from "../media/own-networks.ts";
import { addressesOf, isFor, namesOf } from "./agent-trust.ts";
import { serverUrl, type Where } from "./running-server.ts";

/** Interfaces of networks between this machine and programs on it: other machines do not reach those. */
const INTERNAL =
  /^(docker|br-|veth|virbr|vmnet|vboxnet|cni|cali|cilium|kube|flannel|podman|lxc|lxdbr|incusbr|bridge1\d\d$|vEthernet|VirtualBox|VMware)/i;
/** Interfaces of private networks over other networks: only their members reach those. */
const TUNNEL = /^(tailscale|wg|zt|tun|tap|utun|ipsec|nordlynx|proton)/i;

export interface Reachable {
  /** Address for programs on this machine, without a trailing slash. */
  readonly here: string;
  /** Addresses for other machines, the most likely first; absent when the server listens on loopback. */
  readonly others?: readonly string[];
}

/**
 * Returns the addresses of a server that listens on `host`; with HTTPS, those that its certificate covers, if any.
 * `routed`: this machine's addresses on its default routes.
 */
export function reachable(
  where: Where & Pick<Config, "allowedHosts">,
  interfaces = ownNetworks(),
  routed: readonly string[] = [],
): Reachable {
  const { host, tls, allowedHosts } = where;
  const urls = (hosts: readonly string[]) => hosts.map((one) => serverUrl({ ...where, host: one }));
  const certificate = tls && new X509Certificate(tls.cert);
  const fitting = (all: string[]) => all.filter((url) => certificate && isFor(certificate, url));
  const named = fitting(urls(allowedHosts));
  const own = serverUrl(where);
  const here = (local: readonly string[]) => fitting([own, ...urls(local), ...named])[0] ?? own;
  if (isLoopback(host)) return { here: here(["localhost"]) };
  if (!isEverywhere(host)) return { here: here([]), others: named.length > 0 ? named : [own] };
  const addresses = urls(lanAddresses(interfaces, routed));
  const shown = [...named, ...fitting(addresses)];
  return { here: here(["localhost"]), others: shown.length > 0 ? shown : addresses };
}

/** Returns a warning when the certificate does not cover the address that programs on this machine use, else "". */
export function uncovered(where: Parameters<typeof reachable>[0]): string {
  if (!where.tls) return "";
  const certificate = new X509Certificate(where.tls.cert);
  const { here } = reachable(where, {});
  if (isFor(certificate, here)) return "";
  const [name] = namesOf(certificate);
  const [address] = addressesOf(certificate);
  // svc answers to every address, but only at those that it listens on.
  const advice =
    name === undefined && address !== undefined
      ? `--${isEverywhere(where.host) ? "allowed-host" : "host"} ${address}, svc shows an address`
      : `--allowed-host ${name ?? "NAME"}, svc shows a name`;
  return `the certificate is not for ${new URL(here).hostname}, so clients refuse ${here}: with ${advice} that it covers`;
}

/**
 * Returns the machine's network addresses, the most likely first: those on the default routes, other ones, those of
 * tunnels. IPv4 if there are any, for tunnels and the rest each; internal networks only if there are no others.
 */
export function lanAddresses(interfaces = ownNetworks(), routed: readonly string[] = []): string[] {
  const all = Object.entries(interfaces).flatMap(([name, addresses = []]) =>
    addresses
      .filter(({ internal, address }) => !internal && !/^(169\.254\.|fe80:)/i.test(address))
      .map(({ address }) => ({ address, rank: rankOf(name, routed.includes(address)) })),
  );
  const outer = all.filter(({ rank }) => rank < RANKS.internal);
  const shown = (outer.length > 0 ? outer : all).toSorted((one, other) => one.rank - other.rank);
  const [tunnels = [], rest = []] = [true, false].map((wanted) =>
    shown.filter(({ rank }) => (rank === RANKS.tunnel) === wanted).map(({ address }) => address),
  );
  return [...ofOneFamily(rest), ...ofOneFamily(tunnels)];
}

function ofOneFamily(addresses: readonly string[]): readonly string[] {
  const v4 = addresses.filter((address) => isIPv4(address));
  return v4.length > 0 ? v4 : addresses;
}

const RANKS = { routed: 0, other: 1, tunnel: 2, internal: 3 };

/** With a tunnel for everything, the default route is the tunnel's; a bridge to the network may look internal. */
function rankOf(name: string, isRouted: boolean): number {
  if (TUNNEL.test(name)) return RANKS.tunnel;
  if (isRouted) return RANKS.routed;
  return INTERNAL.test(name) ? RANKS.internal : RANKS.other;
}
