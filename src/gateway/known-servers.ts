// Where other servers of this machine usually listen, and where else they may.

import type { ServerKind } from "./server-kind.ts";

/** Ports that these servers take when nobody tells them another. */
export const KNOWN_PORTS: ReadonlyMap<number, ServerKind> = new Map([
  [11434, "ollama"],
  [1234, "lm-studio"],
  [1337, "jan"],
  [8080, "mlx-lm"],
  [8081, "llama.cpp"],
  [8000, "vllm"],
  [30_000, "sglang"],
]);

/** Ports at which people start web servers, both ends included; others are not asked. */
const RANGES: readonly (readonly [first: number, last: number])[] = [
  [3000, 5999],
  [7860, 7899],
  [8000, 8200],
  [8888, 8899],
  [9000, 9099],
  [9999, 9999],
  [49_152, 65_535],
];

/** Whether a listening port that is no known one is worth a question. */
export const isCandidate = (port: number): boolean => RANGES.some(([first, last]) => port >= first && port <= last);
