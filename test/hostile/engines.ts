// The engines of a server under attack: their processes, their state in /health, and what requests leave behind.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestServer } from "../support/server.ts";

/** Flags for a server whose engines other than the text engine are attacked. */
export const ENGINE_FLAGS = ["--ctx", "1024", "--parallel", "1", "--threads", "2"];

/** Engines whose models are embedded or created by a build. */
export const ENGINE_KINDS = ["transcription", "speech", "image", "recognition"] as const;
export type EngineKind = (typeof ENGINE_KINDS)[number];

export interface EngineHealth {
  readonly kind: string;
  readonly state: string;
  readonly restarts: number;
  readonly running: number;
  readonly waiting: number;
}

export async function engineHealth({ url }: TestServer, kind: EngineKind): Promise<EngineHealth> {
  const { engines } = (await (await fetch(`${url}/health`)).json()) as { readonly engines: readonly EngineHealth[] };
  const found = engines.find((engine) => engine.kind === kind);
  if (!found) throw new Error(`no engine for ${kind}`);
  return found;
}

/** Counts files of requests in a temporary folder; the locks of the server's folders there are none. */
export const filesLeft = (folder: string): number =>
  readdirSync(folder)
    .filter((name) => /^svc-(recordings|documents|pictures)-/.test(name))
    .flatMap((name) => readdirSync(join(folder, name)))
    .filter((name) => !name.startsWith("lock")).length;

/** Runs `work` with its own temporary folder for all processes that it starts. */
export async function withTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const before = process.env["TMPDIR"];
  const folder = mkdtempSync(join(tmpdir(), "svc-hostile-"));
  process.env["TMPDIR"] = folder;
  try {
    return await work(folder);
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(folder, { recursive: true, force: true });
  }
}
