// The engines of a server that is attacked: their processes, what /health says of them, and what is left of requests.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childrenOf, openFiles, residentBytes } from "../support/processes.ts";
import type { TestServer } from "../support/server.ts";

/** Of a server whose other engines are attacked; the text model is not. */
export const ENGINE_FLAGS = ["--ctx", "1024", "--parallel", "1", "--threads", "2"];

/** Those of models that are inside or are made by a build. */
export const ENGINE_KINDS = ["transcription", "speech", "image", "recognition"] as const;
export type EngineKind = (typeof ENGINE_KINDS)[number];

/** The processes of an engine, if it is loaded. */
export const enginesOf = ({ pid }: TestServer, kind: EngineKind | "embedding"): number[] =>
  childrenOf(pid).filter((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, "latin1").endsWith(`__engine\0${kind}\0`);
    } catch {
      return false;
    }
  });

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

/** Memory and descriptors of the front and of an engine. */
export function levelsOf(server: TestServer, kind: EngineKind) {
  const all = enginesOf(server, kind);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    front: residentBytes(server.pid),
    engine: sum(all.map((pid) => residentBytes(pid))),
    files: sum([server.pid, ...all].map(openFiles)),
  };
}

/** Files of requests below a temporary folder. */
export const filesLeft = (folder: string): number =>
  readdirSync(folder)
    .filter((name) => /^svc-(recordings|documents|pictures)-/.test(name))
    .reduce((sum, name) => sum + readdirSync(join(folder, name)).length, 0);

/** Runs `work` with a temporary folder of its own for whatever is started. */
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
