// Finds the addresses with which this machine sends to other networks.

/** Addresses for documentation (RFC 5737 and 3849), and the family that a socket for them must have. */
const ELSEWHERE = [
  { from: "0.0.0.0", to: "203.0.113.1" },
  { from: "::", to: "2001:db8::1" },
] as const;
/** Discard: any number would do. */
const PORT = 9;

/** Returns this machine's addresses on its default routes, IPv4 first; empty without a network. Sends no packet. */
export async function routedAddresses(): Promise<readonly string[]> {
  const found = await Promise.all(ELSEWHERE.map(({ from, to }) => sourceFor(from, to)));
  return found.filter((address) => address !== undefined);
}

/** Connecting a datagram socket only chooses the route, and with it the socket's address. */
async function sourceFor(hostname: string, destination: string): Promise<string | undefined> {
  try {
    const socket = await Bun.udpSocket({ hostname, connect: { hostname: destination, port: PORT } });
    const { address } = socket.address;
    socket.close();
    return address;
  } catch {
    // No route, or a sandbox that forbids such sockets.
    return undefined;
  }
}
