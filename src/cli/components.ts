// Components that svc-slim lacks: downloaded when the user allows it, and checked against checksums in the program.

import type { Component, ComponentName } from "../../ffi/runtime/embedded.ts";
import { archiveName, downloadOf, folderOf, isDownloaded, isSound } from "../../ffi/runtime/extract.ts";
import { componentOf } from "../../ffi/runtime/native-files.ts";
import type { Config } from "../config/config.ts";
import { releasedFile } from "../config/releases.ts";
import { userAgent } from "../config/version.ts";
import { errorMessage } from "../domain/error-message.ts";
import { SvcError } from "../domain/errors.ts";
import { fileSize } from "../domain/file-size.ts";
import { PullError } from "../store/models/pull-error.ts";
import { componentOperand } from "../store/models/short-names.ts";
import { fetchReleaseFile, type FetchOptions } from "../store/release-file.ts";
import type { Logger } from "../telemetry/log.ts";

/** What each component provides, as the subject of a message. */
const USES: Readonly<Record<ComponentName, string>> = {
  base: "Text",
  embeddings: "The embedding model all-MiniLM-L6-v2",
  transcription: "The speech recognition model Whisper base",
  speech: "The voice",
  recognition: "Text recognition",
  images: "The image model svc-draw",
};

/**
 * Returns the engine option `prepare`, which downloads the component that contains the file `path` before the engine
 * starts. Returns no option when the component is embedded in this program, or when the file belongs to no component.
 */
export function preparing(
  path: string,
  config: Config,
  log: Logger,
): { readonly prepare?: (signal: AbortSignal) => Promise<void> | undefined } {
  const place = componentOf(path);
  if (!place || place.component.archive !== undefined) return {};
  const { component, parent } = place;
  let running: Promise<void> | undefined;
  const prepare = (signal: AbortSignal) => {
    if (running || isThere(component, parent)) return running;
    if (!config.fetchComponents) throw new SvcError("engine_unavailable", notHere(component));
    running = fetchLogged(component, parent, config, log, signal).finally(() => (running = undefined));
    return running;
  };
  return { prepare };
}

/** Returns what to tell of a file whose component is neither inside this program nor downloaded; else undefined. */
export function whyMissing(path: string): string | undefined {
  const place = componentOf(path);
  if (!place || place.component.archive !== undefined || isThere(place.component, place.parent)) return undefined;
  return notHere(place.component);
}

const notHere = ({ name, bytes }: Component): string =>
  `${USES[name]} is not part of svc-slim: \`svc pull ${componentOperand(name)}\` downloads it (${fileSize(bytes)}), or --fetch-components when a request needs it.`;

async function fetchLogged(
  component: Component,
  parent: string,
  config: Config,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { name: component_name, bytes } = component;
  log.info("downloading a component", { component: component_name, bytes });
  const note = (text: string) => log.warn(text, { component: component_name });
  try {
    await fetchComponent(component, parent, config, { note, signal });
    log.info("component downloaded", { component: component_name });
  } catch (error) {
    signal.throwIfAborted();
    const reason = errorMessage(error);
    log.error("component not downloaded", { component: component_name, reason });
    throw new SvcError(
      "engine_unavailable",
      `${USES[component_name]} could not be downloaded; the server's log says why.`,
    );
  }
}

/** Downloads a component's archive unless it is there. Throws PullError, or the reason of the aborted signal. */
export async function fetchComponent(
  component: Component,
  parent: string,
  config: Config,
  options: Omit<FetchOptions, "userAgent">,
): Promise<void> {
  const url = releasedFile(config, archiveName(component));
  if (url === undefined) {
    throw new PullError("This svc was not built for a release: name the address of its components with --releases.");
  }
  const { bytes, sha256 } = component;
  const done = () => isThere(component, parent);
  await fetchReleaseFile({ url, bytes, sha256 }, downloadOf(component, parent), done, { ...options, userAgent });
}

/** Returns whether the component is unpacked, or its archive is there to unpack. */
const isThere = (component: Component, parent: string): boolean =>
  isDownloaded(component, parent) || isSound(component, folderOf(component, parent));
