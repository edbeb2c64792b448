// The network interfaces of this machine.

import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";

export type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** Returns the network interfaces by name, as far as the system reports them: none in a sandbox that hides them. */
export function ownNetworks(): Interfaces {
  try {
    return networkInterfaces();
  } catch {
    // Asking needs a netlink socket, which `RestrictAddressFamilies` of a systemd unit can refuse.
    return {};
  }
}
