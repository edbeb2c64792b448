// Parses the values of --worker, --tensor-split and --allow of a worker.

import { isIPv4 } from "node:net";
import { MOST_WORKERS, WORKER_PORT, workerName, type WorkerAddress } from "../domain/worker.ts";
import { UsageError } from "./parse.ts";

const ADDRESS = /^([A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?)(?::(\d{1,5}))?$/;

/** Parses HOST or HOST:PORT items. Throws UsageError. */
export function parseWorkers(items: readonly string[]): readonly WorkerAddress[] {
  const workers = items.map((item) => {
    const [, host, port = WORKER_PORT] = ADDRESS.exec(item) ?? [];
    if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
      throw new UsageError(`--worker must be HOST or HOST:PORT, by name or IPv4 address, not "${item}".`);
    }
    return { host, port: Number(port) };
  });
  const names = workers.map(workerName);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new UsageError(`--worker names ${twice} twice.`);
  if (names.length > MOST_WORKERS) {
    throw new UsageError(`--worker may be given ${MOST_WORKERS} times, not ${names.length}.`);
  }
  return workers;
}

/** Parses a share for each device. Throws UsageError. */
export function parseShares(items: readonly string[]): readonly number[] {
  const shares = items.map(Number);
  const isWrong = shares.some((share) => !Number.isFinite(share) || share < 0) || shares.every((share) => share === 0);
  if (items.length > 0 && isWrong) {
    throw new UsageError("--tensor-split must be numbers from 0, one for each device and not all 0, such as 3,1.");
  }
  if (items.length > MOST_WORKERS) {
    throw new UsageError(`--tensor-split may have ${MOST_WORKERS} shares, not ${items.length}.`);
  }
  return shares;
}

/** Returns ADDRESS or ADDRESS/BITS items as ADDRESS/BITS. Throws UsageError. */
export function parseNetworks(items: readonly string[]): readonly string[] {
  return items.map((item) => {
    const [, address = "", bits = "32"] = /^([^/]*)(?:\/(\d{1,2}))?$/.exec(item) ?? [];
    if (!isIPv4(address) || Number(bits) > 32) {
      throw new UsageError(`--allow must be an IPv4 address or a network such as 10.0.0.0/24, not "${item}".`);
    }
    return `${address}/${bits}`;
  });
}
