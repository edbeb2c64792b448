// The TCP ports that programs of this machine listen on, within reach of the loopback interface.

import { readFile } from "node:fs/promises";

const LISTEN = "0A";
const LOOPBACK = /^(0100007F|00000000|0{32}|0{24}01000000|0{16}FFFF00000100007F)$/;

/** Linux keeps the list in files; elsewhere only the known ports are looked at. */
export async function listeningPorts(): Promise<number[]> {
  const tables = await Promise.all(
    ["/proc/net/tcp", "/proc/net/tcp6"].map((file) => readFile(file, "utf8").catch(() => "")),
  );
  const ports = new Set(tables.flatMap(parseSockets));
  return [...ports].toSorted((a, b) => a - b);
}

/** Ports in the `listen` state of one table of the kernel. */
export function parseSockets(table: string): number[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state] = line.trim().split(/\s+/);
    const [address = "", port = ""] = local.split(":");
    return state === LISTEN && LOOPBACK.test(address.toUpperCase()) ? [Number.parseInt(port, 16)] : [];
  });
}
