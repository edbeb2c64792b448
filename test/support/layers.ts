// The list of AGENTS.md: which folder may import which. The most specific entry that contains a path applies.

export interface Layer {
  readonly may: readonly string[];
  readonly why: string;
}

export type Layers = Readonly<Record<string, Layer>>;

export const layers: Layers = {
  "src/contract": { may: ["src/domain"], why: "the wire is described without knowing who serves it" },
  "src/domain": { may: [], why: "everybody builds on the domain, so it builds on nobody" },
  "src/dialect": {
    may: ["src/contract", "src/domain", "src/text", "src/json-schema"],
    why: "a dialect is a pure function between wire and domain",
  },
  "src/text": { may: ["src/domain"], why: "text machinery runs in the engine process and is tested alone" },
  "src/json-schema": { may: ["src/domain"], why: "schemas are checked and rewritten without knowing who sent them" },
  "src/speech": { may: ["src/domain"], why: "text becomes phonemes without knowing which engine speaks them" },
  "src/recognition": {
    may: ["src/domain", "src/audio/fourier.ts"],
    why: "pages are analysed without knowing which engine reads them",
  },
  "src/media": {
    may: ["src/domain", "src/audio/decode/format.ts"],
    why: "pictures and sounds are decoded without knowing who sent them",
  },
  "src/audio": {
    may: ["src/domain"],
    why: "sound files are read and written without knowing who sent them; native code is handed in",
  },
  "src/scheduler": {
    may: [
      "src/domain",
      "src/scheduler/cost",
      "src/scheduler/kv",
      "src/scheduler/queue",
      "src/scheduler/speculation",
      "src/scheduler/step",
    ],
    why: "the scheduler is tested on a fake engine and a fake clock",
  },
  "src/scheduler/cost": { may: [], why: "costs are learned from numbers, without knowing who uses them" },
  "src/scheduler/kv": {
    may: ["src/domain", "src/scheduler/common-length.ts", "src/scheduler/media-span.ts", "src/scheduler/cost"],
    why: "what is cached does not depend on which request runs next",
  },
  "src/scheduler/queue": {
    may: ["src/domain", "src/scheduler/kv"],
    why: "requests are admitted by free cells, whatever a step then computes",
  },
  "src/scheduler/speculation": {
    may: ["src/domain", "src/scheduler/plan.ts", "src/scheduler/cost"],
    why: "speculative tokens are added to a step, which need not know where they come from",
  },
  "src/scheduler/step": {
    may: ["src/domain", "src/scheduler/plan.ts", "src/scheduler/cost"],
    why: "steps are planned for the requests that the queue has admitted",
  },
  "src/service": {
    may: [
      "src/domain",
      "src/text",
      "src/media",
      "src/engine/text/port.ts",
      "src/model",
      "src/store",
      "src/telemetry",
      "src/config",
    ],
    why: "a use case knows neither HTTP nor which engine answers",
  },
  "src/service/batch": {
    may: ["src/contract", "src/dialect", "src/domain", "src/store", "src/telemetry"],
    why: "a batch answers its lines as the chat route does, but without HTTP",
  },
  "src/engine/kinds.ts": {
    may: [
      "src/engine/process",
      "src/engine/text/child",
      "src/engine/embedding/child",
      "src/engine/transcription/child",
      "src/engine/speech/child",
      "src/engine/recognition/child",
      "src/engine/image/child",
      "src/engine/worker/child",
    ],
    why: "the table of kinds starts them, and no more",
  },
  "src/engine/process": {
    may: ["src/domain", "src/telemetry", "ffi/runtime"],
    why: "processes are supervised without knowing what they compute",
  },
  "src/engine/text": {
    may: ["src/engine/process", "src/domain", "src/telemetry"],
    why: "the front process never loads native code, and the engine side is reached by messages",
  },
  "src/engine/text/child": {
    may: [
      "src/engine/process",
      "src/engine/text/protocol.ts",
      "src/scheduler",
      "src/text",
      "src/domain",
      "src/telemetry",
      "ffi",
    ],
    why: "the engine process knows its parent only by the protocol",
  },
  "src/engine/embedding": {
    may: ["src/engine/process", "src/domain", "src/telemetry"],
    why: "the front process never loads native code, and the engine side is reached by messages",
  },
  "src/engine/embedding/child": {
    may: ["src/engine/process", "src/engine/embedding/port.ts", "src/domain", "ffi"],
    why: "the engine process knows its parent only by the protocol",
  },
  "src/engine/transcription": {
    may: ["src/engine/process", "src/domain", "src/telemetry"],
    why: "the front process never loads native code, and the engine side is reached by messages",
  },
  "src/engine/transcription/child": {
    may: [
      "src/engine/process",
      "src/engine/transcription/port.ts",
      "src/engine/transcription/protocol.ts",
      "src/audio",
      "src/domain",
      "ffi",
    ],
    why: "the engine process knows its parent only by the protocol",
  },
  "src/engine/speech": {
    may: ["src/engine/process", "src/domain", "src/telemetry"],
    why: "the front process never loads a model, and the engine side is reached by messages",
  },
  "src/engine/speech/host": {
    may: ["src/engine/process", "src/audio", "src/domain"],
    why: "a program of the host is started for what it says, and is known to nobody else",
  },
  "src/engine/speech/child": {
    may: [
      "src/engine/process",
      "src/engine/speech/port.ts",
      "src/engine/speech/kokoro-voices.ts",
      "src/engine/speech/host",
      "src/speech",
      "src/audio",
      "src/domain",
      "ffi/runtime",
    ],
    why: "the engine process knows its parent only by the protocol",
  },
  "src/engine/recognition": {
    may: ["src/engine/process", "src/domain", "src/telemetry"],
    why: "the front process never decodes what a client sends, and the engine side is reached by messages",
  },
  "src/engine/recognition/child": {
    may: [
      "src/engine/process",
      "src/engine/recognition/protocol.ts",
      "src/recognition",
      "src/media",
      "src/domain",
      "ffi/runtime",
    ],
    why: "the engine process knows its parent only by the protocol",
  },
  "src/engine/worker": {
    may: ["src/engine/process", "src/domain"],
    why: "the front process never computes, and the side that does is reached by messages",
  },
  "src/engine/worker/child": {
    may: ["src/engine/process", "src/engine/worker/protocol.ts", "src/domain", "ffi"],
    why: "the engine process knows its parent only by the protocol",
  },
  "src/engine/image": {
    may: ["src/engine/process", "src/domain", "src/telemetry"],
    why: "the front process never decodes what a client sends, and the engine side is reached by messages",
  },
  "src/engine/image/child": {
    may: ["src/engine/process", "src/engine/image/protocol.ts", "src/media", "src/domain", "ffi"],
    why: "the engine process knows its parent only by the protocol",
  },
  "src/gateway": {
    may: ["src/domain", "src/telemetry", "src/engine/text/port.ts"],
    why: "another server is one more engine behind the port, known to nobody above it",
  },
  "src/model": { may: ["src/domain"], why: "model files are read before anything is started" },
  "src/store": { may: ["src/domain"], why: "what is kept does not depend on who asks" },
  "src/telemetry": { may: ["src/domain"], why: "everybody reports to it, so it must not look back" },
  "src/http": {
    may: [
      "src/contract",
      "src/dialect",
      "src/service",
      "src/service/batch",
      "src/telemetry",
      "src/config",
      "src/domain",
    ],
    why: "routes validate, translate and call a service; they never reach past it",
  },
  "src/config": {
    may: ["src/domain", "src/json-schema", "package.json"],
    why: "configuration is known, and checked, before everything else",
  },
  "src/page": {
    may: ["src/page/logic", "src/page/state", "src/page/view"],
    why: "the page runs in a browser, and knows the server by its API alone",
  },
  "src/page/logic": { may: [], why: "what the page computes is tested without a browser" },
  "src/page/state": { may: ["src/page/logic"], why: "what the page remembers does not depend on how it is shown" },
  "src/page/view": {
    may: ["src/page/logic", "src/page/state"],
    why: "the page runs in a browser, and knows the server by its API alone",
  },
  "src/cli": {
    may: [
      "src/domain",
      "src/json-schema",
      "src/speech",
      "src/audio/encode",
      "src/service",
      "src/engine/process",
      "src/engine/text",
      "src/engine/text/port.ts",
      "src/engine/embedding",
      "src/engine/transcription",
      "src/engine/speech",
      "src/engine/speech/host",
      "src/engine/recognition",
      "src/engine/image",
      "src/engine/worker",
      "src/gateway",
      "src/model",
      "src/store",
      "src/media",
      "src/telemetry",
      "src/http",
      "src/config",
      "ffi/runtime",
    ],
    why: "the program puts the parts together; wire and dialects are behind http, native code is in the engine process",
  },
  "src/main.ts": {
    may: ["src/config", "src/cli", "src/engine/kinds.ts"],
    why: "main decides who runs, and no more",
  },
  ffi: { may: [], why: "native bindings can be used, and replaced, without the rest" },
};

/** Returns why `from` may not import `target`, or undefined when the import is allowed. */
export function whyNot(table: Layers, from: string, target: string): string | undefined {
  const home = layerOf(table, from);
  const layer = home === undefined ? undefined : table[home];
  if (layer === undefined) return "this folder is missing in the table of layers";
  const other = layerOf(table, target);
  if (other === home) return undefined;
  // An entry for a folder does not open subfolders that have an entry of their own.
  const isOpen = (path: string) => isIn(target, path) && (other === undefined || isIn(path, other));
  return layer.may.some(isOpen) ? undefined : layer.why;
}

/** Returns whether `path` is `folder` or lies in it. */
export const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** Returns the most specific entry of the table that contains `path`. */
function layerOf(table: Layers, path: string): string | undefined {
  const entries = Object.keys(table).filter((folder) => isIn(path, folder));
  return entries.sort((a, b) => b.length - a.length)[0];
}
