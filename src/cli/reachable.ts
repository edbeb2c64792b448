// Where a server is found: on this machine, and from others.

import { isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import { isLoopback } from "../config/host-name.ts";
import { serverUrl, type Where } from "./running-server.ts";

/** Addresses of these are other programs' inner networks. */
const VIRTUAL = /^(docker|br-|veth|virbr|vmnet|vboxnet|cni|flannel|podman|lxc)/;

export interface Reachable {
  /** Address for programs on this machine, without a trailing slash. */
  readonly here: string;
  /** Addresses for other machines, the likeliest first; empty where the server listens on loopback. */
  readonly others: readonly string[];
}

/** The addresses of a server that listens on `host`. */
export function reachable(where: Where, interfaces = networkInterfaces()): Reachable {
  const { host } = where;
  const here = serverUrl(where);
  if (isLoopback(host)) return { here, others: [] };
  if (host !== "0.0.0.0" && host !== "::") return { here, others: [here] };
  return { here, others: lanAddresses(interfaces).map((address) => serverUrl({ ...where, host: address })) };
}

/** The machine's addresses in its networks, IPv4 where there is one, those of virtual networks only when there are no others. */
export function lanAddresses(interfaces = networkInterfaces()): string[] {
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
