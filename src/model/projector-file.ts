// Checks the file of a projector before it is loaded with its model.

import { basename } from "node:path";
import { ModelFileError, readGguf } from "./gguf.ts";

/** Checks that a file is complete and encodes images or sound; the library finds out whether it fits. Throws ModelFileError. */
export function checkProjectorFile(path: string): void {
  const { metadata } = readGguf(path);
  if (metadata.has("clip.has_vision_encoder") || metadata.has("clip.has_audio_encoder")) return;
  throw new ModelFileError(`${basename(path)} is not a projector (mmproj).`);
}
