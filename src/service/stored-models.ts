// Downloads and removes models on disk for clients of the server, as `svc pull` and `svc rm` do.

import type { HubSettings } from "../config/hub.ts";
import { UsageError } from "../config/parse.ts";
import type { DownloadEvent, DownloadProgress } from "../domain/download.ts";
import { errorMessage } from "../domain/error-message.ts";
import { type ErrorCode, fieldError, SvcError } from "../domain/errors.ts";
import { checkModelFile, servingOption } from "../model/serving-option.ts";
import { filesOf, ModelStore, type Manifest } from "../store/models/model-store.ts";
import { pull } from "../store/models/pull.ts";
import { PullError } from "../store/models/pull-error.ts";
import { parseReference, type HubReference } from "../store/models/reference.ts";
import type { Patience } from "../store/models/retry.ts";
import type { ModelSource } from "./model-router.ts";

interface StoredModelsDeps {
  /** Folder of downloaded models. */
  readonly folder: string;
  /** Returns the hub's settings. Throws UsageError when the environment sets them wrongly. */
  readonly hub: () => HubSettings;
  /** Absolute paths of files that this server uses or will use. */
  readonly inUse: readonly string[];
  /** Offers them by their names; absent: the server does not. */
  readonly source?: ModelSource | undefined;
  readonly patience?: Patience;
  readonly now: () => number;
}

/** Milliseconds between progress events: pieces may arrive much faster than clients want to read about them. */
const TELL_MS = 100;

export class StoredModels {
  private readonly store: ModelStore;

  constructor(private readonly deps: StoredModelsDeps) {
    this.store = new ModelStore(deps.folder);
  }

  /**
   * Downloads a model from the hub, by the names that `svc pull` accepts; partial files remain when `signal` aborts.
   * Throws SvcError `invalid_value` at once about an invalid name, later `download_failed`, or the signal's reason.
   */
  download(name: string, signal: AbortSignal): AsyncGenerator<DownloadEvent, void, void> {
    return this.run(hubReference(name, this.hub().endpoint), signal);
  }

  /** Removes a model, by the names that `svc rm` accepts. Throws SvcError. */
  async remove(name: string): Promise<void> {
    const [model, other] = this.findAll(name);
    if (!model) throw fieldError("model_not_found", "model", "names no downloaded model");
    if (other) throw invalid("'model' fits several downloaded models: name one in full, as svc list shows it.");
    if (filesOf(model).some(({ path }) => this.deps.inUse.includes(this.store.path(path)))) {
      throw invalid("'model' is served at this moment; stop the server first.");
    }
    await this.store.remove(model).catch((error: unknown) => inWords(error, "storage_unavailable"));
    // Its engine ends now, not at the next request.
    this.deps.source?.refresh?.();
  }

  private async *run(reference: HubReference, signal: AbortSignal): AsyncGenerator<DownloadEvent, void, void> {
    const { now, patience } = this.deps;
    // Aborted when the reader stops early, to end the download.
    const left = new AbortController();
    const pending: DownloadEvent[] = [];
    let progress: DownloadProgress | undefined;
    let ended = false;
    let due = Promise.withResolvers<void>();
    const work = pull(reference, {
      hub: this.hub(),
      store: this.store,
      signal: AbortSignal.any([signal, left.signal]),
      progress: (state) => (progress = state),
      note: (text) => pending.push({ type: "note", text }),
      check: checkModelFile,
      now,
      ...(patience && { patience }),
    }).finally(() => {
      ended = true;
      due.resolve();
    });
    // The failure is handled below, after the pending events.
    work.catch(() => {});
    const timer = setInterval(() => due.resolve(), TELL_MS);
    try {
      while (!ended) {
        await due.promise;
        due = Promise.withResolvers();
        if (progress) yield { type: "progress", progress };
        progress = undefined;
        yield* pending.splice(0);
      }
      const { manifest } = await work.catch(
        (error: unknown) => (signal.throwIfAborted(), inWords(error, "download_failed")),
      );
      const { name } = manifest;
      const option = this.optionOf(manifest);
      yield { type: "done", name, ...(this.deps.source?.find(name) === undefined && { option }) };
    } finally {
      clearInterval(timer);
      left.abort();
    }
  }

  /** Returns a model's server option. Throws SvcError `download_failed` about one that cannot be served. */
  private optionOf({ name, files }: Manifest): string {
    try {
      return servingOption(this.store.path(files[0]?.path ?? ""));
    } catch (error) {
      const reason = errorMessage(error);
      throw new SvcError("download_failed", `${name} was downloaded, but cannot be served: ${reason}`);
    }
  }

  private findAll(name: string): Manifest[] {
    try {
      return this.store.findAll(name);
    } catch (error) {
      return inWords(error, "storage_unavailable");
    }
  }

  private hub(): HubSettings {
    try {
      return this.deps.hub();
    } catch (error) {
      throw error instanceof UsageError ? new SvcError("download_failed", error.message) : error;
    }
  }
}

const invalid = (message: string) => new SvcError("invalid_value", message, { param: "model" });

/** Throws a failure of the disk or network with its own message, which names the model (no secret) and what to do. */
function inWords(error: unknown, code: ErrorCode): never {
  throw error instanceof PullError ? new SvcError(code, error.message) : error;
}

/** Reads a hub reference. Refuses other addresses, through which any local page could choose what is fetched. */
function hubReference(name: string, endpoint: string): HubReference {
  try {
    const reference = parseReference(name, endpoint);
    if (reference.kind === "hub") return reference;
  } catch (error) {
    if (!(error instanceof PullError)) throw error;
  }
  throw invalid(
    `'model' must name a repository with GGUF files as owner/repository or owner/repository:QUANT, also after hf.co/, or whisper:NAME; got a string of length ${name.length}.`,
  );
}
