// Makes the services that compute with models, one for each kind of request.

import type { Config } from "../config/config.ts";
import type { Timers } from "../domain/clock.ts";
import { defaultMediaLimits } from "../media/limits.ts";
import { KeptImages } from "../store/kept-images.ts";
import type { uploadFolders } from "../store/upload-folders.ts";
import { ClassificationService } from "./classification.ts";
import { EmbeddingService } from "./embeddings.ts";
import { GenerationService } from "./generation.ts";
import { ImageService } from "./images.ts";
import { InputReaders } from "./input-readers.ts";
import type { ModelRouter } from "./model-router.ts";
import { pictureReader } from "./picture-reader.ts";
import { RecognitionService } from "./recognition.ts";
import type { RequestService } from "./request.ts";
import { soundReader } from "./sound-reader.ts";
import { SpeechService } from "./speech.ts";
import type { TextLanguages } from "./text-languages.ts";
import { TranscriptionService } from "./transcriptions.ts";

interface ModelServiceDeps {
  readonly config: Config;
  readonly clock: Timers;
  readonly router: ModelRouter;
  readonly requests: RequestService;
  readonly folders: ReturnType<typeof uploadFolders>;
  /** Languages of text in pictures. */
  readonly languages: TextLanguages;
}

export type ModelServices = Readonly<ReturnType<typeof modelServices>>;

/** Creates the services, all of which use the same router. The caller closes the folders, and the images. */
export function modelServices({ config, clock, router, requests, folders, languages }: ModelServiceDeps) {
  const { mediaFetch, mediaFetchPrivate, ocrInput, transcribeInput } = config;
  const root = config.mediaRoot === undefined ? {} : { mediaRoot: config.mediaRoot };
  const mediaLimits = { ...defaultMediaLimits, fetch: mediaFetch, fetchPrivate: mediaFetchPrivate, ...root };
  const { documents, pictures, recordings } = folders;
  const transcriptions = new TranscriptionService({ router, requests, recordings, mediaLimits });
  const recognition = new RecognitionService({ router, requests, documents, languages, ...root });
  const readers = new InputReaders({
    ...(ocrInput && { image: pictureReader(recognition, mediaLimits) }),
    ...(transcribeInput && { audio: soundReader(transcriptions) }),
  });
  const generation = new GenerationService({ router, requests, clock, mediaLimits, readers });
  return {
    router,
    requests,
    generation,
    classification: new ClassificationService({ router, generation }),
    embeddings: new EmbeddingService({ router, requests }),
    transcriptions,
    speech: new SpeechService({ router, requests }),
    recognition,
    images: new ImageService({ router, requests, pictures, kept: new KeptImages(clock) }),
  };
}
