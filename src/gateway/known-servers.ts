// Lists the ports at which other servers on this machine usually listen, and where else they may.

import type { ServerKind } from "./server-kind.ts";

/** Default ports of these servers. */
export const KNOWN_PORTS: ReadonlyMap<number, ServerKind> = new Map([
  [11434, "ollama"],
  [1234, "lm-studio"],
  [1337, "jan"],
  [8080, "mlx-lm"],
  [8081, "llama.cpp"],
  [8000, "vllm"],
  [30_000, "sglang"],
]);

/** Ranges of ports commonly used for web servers, both ends included; other ports are not queried. */
const RANGES: readonly (readonly [first: number, last: number])[] = [
  [3000, 5999],
  [7860, 7899],
  [8000, 8200],
  [8888, 8899],
  [9000, 9099],
  [9999, 9999],
  [49_152, 65_535],
];

/** Returns whether to query a listening port that is not a known one. */
export const isCandidate = (port: number): boolean => RANGES.some(([first, last]) => port >= first && port <= last);
