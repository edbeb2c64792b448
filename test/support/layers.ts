// The list of AGENTS.md: which folder may import which. The most specific entry that contains a path applies.

import { readdirSync } from "node:fs";
import { join } from "node:path";

export type Layers = Readonly<Record<string, readonly string[]>>;

/** One folder for each kind of engine, and what all kinds have in common. */
const engineFolders = readdirSync(join(import.meta.dir, "../../src/engine"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `src/engine/${name}`);

export const layers: Layers = {
  "src/contract": ["src/domain"],
  "src/domain": [],
  "src/dialect": ["src/contract", "src/domain", "src/text", "src/json-schema"],
  "src/text": ["src/domain"],
  "src/json-schema": ["src/domain"],
  "src/speech": ["src/domain"],
  "src/recognition": ["src/domain", "src/audio/fourier.ts"],
  "src/media": ["src/domain", "src/audio/decode/format.ts"],
  "src/audio": ["src/domain"],
  "src/scheduler": [
    "src/domain",
    "src/scheduler/cost",
    "src/scheduler/kv",
    "src/scheduler/queue",
    "src/scheduler/speculation",
    "src/scheduler/step",
  ],
  "src/scheduler/cost": [],
  "src/scheduler/kv": [
    "src/domain",
    "src/scheduler/common-length.ts",
    "src/scheduler/media-span.ts",
    "src/scheduler/cost",
  ],
  "src/scheduler/queue": ["src/domain", "src/scheduler/media-span.ts", "src/scheduler/kv"],
  "src/scheduler/speculation": ["src/domain", "src/scheduler/plan.ts", "src/scheduler/cost"],
  "src/scheduler/step": ["src/domain", "src/scheduler/plan.ts", "src/scheduler/cost"],
  "src/service": [
    "src/domain",
    "src/text",
    "src/media",
    "src/engine/text/port.ts",
    "src/model",
    "src/store",
    "src/telemetry",
    "src/config",
  ],
  "src/service/batch": ["src/contract", "src/dialect", "src/domain", "src/store", "src/telemetry"],
  "src/engine/kinds.ts": ["src/engine/process", ...engineFolders.map((folder) => `${folder}/child`)],
  ...Object.fromEntries(engineFolders.map((folder) => [folder, ["src/engine/process", "src/domain", "src/telemetry"]])),
  "src/engine/process": ["src/domain", "src/telemetry", "ffi/runtime"],
  "src/engine/text/child": [
    "src/engine/process",
    "src/engine/text/protocol.ts",
    "src/scheduler",
    "src/text",
    "src/audio",
    "src/domain",
    "src/telemetry",
    "ffi",
  ],
  "src/engine/embedding/child": ["src/engine/process", "src/engine/embedding/port.ts", "src/domain", "ffi"],
  "src/engine/transcription/child": [
    "src/engine/process",
    "src/engine/transcription/port.ts",
    "src/engine/transcription/protocol.ts",
    "src/audio",
    "src/domain",
    "ffi",
  ],
  "src/engine/speech/host": ["src/engine/process", "src/audio", "src/domain"],
  "src/engine/speech/child": [
    "src/engine/process",
    "src/engine/speech/port.ts",
    "src/engine/speech/kokoro-voices.ts",
    "src/engine/speech/host",
    "src/speech",
    "src/audio",
    "src/domain",
    "ffi/runtime",
  ],
  "src/engine/recognition/child": [
    "src/engine/process",
    "src/engine/recognition/protocol.ts",
    "src/recognition",
    "src/media",
    "src/domain",
    "ffi/runtime",
    "ffi/tesseract/binding.ts",
  ],
  "src/engine/worker/child": ["src/engine/process", "src/engine/worker/protocol.ts", "src/domain", "ffi"],
  "src/engine/gpus/child": ["src/engine/process", "src/engine/gpus/protocol.ts", "src/domain", "ffi"],
  "src/engine/image/child": ["src/engine/process", "src/engine/image/protocol.ts", "src/media", "src/domain", "ffi"],
  "src/gateway": ["src/domain", "src/text", "src/telemetry", "src/engine/text/port.ts", "src/audio/decode/format.ts"],
  "src/model": ["src/domain"],
  "src/store": ["src/domain"],
  "src/telemetry": ["src/domain"],
  "src/http": [
    "src/contract",
    "src/dialect",
    "src/service",
    "src/service/batch",
    "src/telemetry",
    "src/config",
    "src/domain",
  ],
  "src/config": ["src/domain", "src/json-schema", "package.json"],
  "src/page": ["src/page/logic", "src/page/state", "src/page/view"],
  "src/page/logic": [],
  "src/page/state": ["src/page/logic"],
  "src/page/view": ["src/page/logic", "src/page/state"],
  "src/cli": [
    "src/domain",
    "src/json-schema",
    "src/speech",
    "src/audio/encode",
    "src/service",
    ...engineFolders,
    "src/engine/speech/host",
    "src/gateway",
    "src/model",
    "src/store",
    "src/media",
    "src/telemetry",
    "src/http",
    "src/config",
    "ffi/runtime",
  ],
  "src/main.ts": ["src/config", "src/cli", "src/engine/kinds.ts"],
  ffi: [],
};

/** Returns why `from` may not import `target`, or undefined when the import is allowed. */
export function whyNot(table: Layers, from: string, target: string): string | undefined {
  const home = layerOf(table, from);
  const may = home === undefined ? undefined : table[home];
  if (may === undefined) return "this folder is missing in the table of layers";
  const other = layerOf(table, target);
  if (other === home) return undefined;
  // An entry for a folder does not open subfolders that have an entry of their own.
  const isOpen = (path: string) => isIn(target, path) && (other === undefined || isIn(path, other));
  return may.some(isOpen) ? undefined : `AGENTS.md lets ${home} import ${may.join(", ") || "nothing"}`;
}

/** Returns whether `path` is `folder` or lies in it. */
export const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** Returns the most specific entry of the table that contains `path`. */
function layerOf(table: Layers, path: string): string | undefined {
  const entries = Object.keys(table).filter((folder) => isIn(path, folder));
  return entries.sort((a, b) => b.length - a.length)[0];
}
