// Finds the TCP ports that programs on this machine listen on and that are reachable over loopback.

import { readFile } from "node:fs/promises";

const LISTEN = "0A";
const LOOPBACK = /^(0100007F|00000000|0{32}|0{24}01000000|0{16}FFFF00000100007F)$/;

/**
 * Returns the ports. Only Linux provides the list as files; elsewhere the list is empty, so only known ports are
 * queried.
 */
export async function listeningPorts(): Promise<number[]> {
  const tables = await Promise.all(
    ["/proc/net/tcp", "/proc/net/tcp6"].map((file) => readFile(file, "utf8").catch(() => "")),
  );
  const ports = new Set(tables.flatMap(parseSockets));
  return [...ports].toSorted((a, b) => a - b);
}

/** Returns the ports in the `listen` state in one of the kernel's tables. */
export function parseSockets(table: string): number[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state] = line.trim().split(/\s+/);
    const [address = "", port = ""] = local.split(":");
    return state === LISTEN && LOOPBACK.test(address.toUpperCase()) ? [Number.parseInt(port, 16)] : [];
  });
}
