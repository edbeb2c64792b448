// The kinds of engine that this program can run as: `svc __engine NAME`.

import { runEngine } from "./process/child.ts";

/** Each kind imports what it needs, native code included, only when it is started. */
export const kinds: Readonly<Record<string, () => Promise<never>>> = {
  text: async () => runEngine((await import("./text/child/kind.ts")).textKind),
  embedding: async () => runEngine((await import("./embedding/child/kind.ts")).embeddingKind),
  transcription: async () => runEngine((await import("./transcription/child/kind.ts")).transcriptionKind),
  speech: async () => runEngine((await import("./speech/child/kind.ts")).speechKind),
  recognition: async () => runEngine((await import("./recognition/child/kind.ts")).recognitionKind),
  worker: async () => runEngine((await import("./worker/child/kind.ts")).workerKind),
  gpus: async () => runEngine((await import("./gpus/child/kind.ts")).gpusKind),
  image: async () => runEngine((await import("./image/child/kind.ts")).imageKind),
};
