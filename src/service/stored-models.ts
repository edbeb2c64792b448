// Models on disk, as clients of the server download and remove them: what `svc pull` and `svc rm` do.

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

interface StoredModelsDeps {
  /** Folder of downloaded models. */
  readonly folder: string;
  /** Throws UsageError when the environment does not say where the hub is. */
  readonly hub: () => HubSettings;
  /** Absolute paths of files that this server computes with, or will. */
  readonly inUse: readonly string[];
  readonly patience?: Patience;
  readonly now: () => number;
}

/** A download may bring pieces much faster than anybody wants to read of them. */
const TELL_MS = 100;

export class StoredModels {
  private readonly store: ModelStore;

  constructor(private readonly deps: StoredModelsDeps) {
    this.store = new ModelStore(deps.folder);
  }

  /**
   * Downloads a model of the hub, by the names that `svc pull` knows; what arrived stays when `signal` ends it. Throws
   * SvcError `invalid_value` at once about a name that is none, while it runs `download_failed`, or the signal's reason.
   */
  download(name: string, signal: AbortSignal): AsyncGenerator<DownloadEvent, void, void> {
    return this.run(hubReference(name, this.hub().endpoint), signal);
  }

  /** Removes a model, by the names that `svc rm` knows. Throws SvcError. */
  async remove(name: string): Promise<void> {
    const [model, other] = this.store.findAll(name);
    if (!model) throw fieldError("model_not_found", "model", "names no downloaded model");
    if (other) throw invalid("'model' fits several downloaded models: name one in full, as svc list shows it.");
    if (filesOf(model).some(({ path }) => this.deps.inUse.includes(this.store.path(path)))) {
      throw invalid("'model' is served at this moment; stop the server first.");
    }
    await this.store.remove(model).catch((error: unknown) => inWords(error, "storage_unavailable"));
  }

  private async *run(reference: HubReference, signal: AbortSignal): AsyncGenerator<DownloadEvent, void, void> {
    const { now, patience } = this.deps;
    // A reader that leaves in the middle ends the download.
    const left = new AbortController();
    const pending: DownloadEvent[] = [];
    let progress: DownloadProgress | undefined;
    let ended = false;
    const work = pull(reference, {
      hub: this.hub(),
      store: this.store,
      signal: AbortSignal.any([signal, left.signal]),
      progress: (state) => (progress = state),
      note: (text) => pending.push({ type: "note", text }),
      check: checkModelFile,
      now,
      ...(patience && { patience }),
    }).finally(() => (ended = true));
    // It is awaited below, after what it has to tell.
    work.catch(() => {});
    try {
      while (!ended) {
        await Promise.race([work.catch(() => {}), Bun.sleep(TELL_MS)]);
        if (progress) yield { type: "progress", progress };
        progress = undefined;
        yield* pending.splice(0);
      }
      const { manifest } = await work.catch(
        (error: unknown) => (signal.throwIfAborted(), inWords(error, "download_failed")),
      );
      yield { type: "done", name: manifest.name, option: this.optionOf(manifest) };
    } finally {
      left.abort();
    }
  }

  /** Throws SvcError `download_failed` about a model that is there and cannot be served. */
  private optionOf({ name, files }: Manifest): string {
    try {
      return servingOption(this.store.path(files[0]?.path ?? ""));
    } catch (error) {
      const reason = errorMessage(error);
      throw new SvcError("download_failed", `${name} was downloaded, but cannot be served: ${reason}`);
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

/** A failure of the disk or the network in its own words: they name the model, which is no secret, and what to do. */
function inWords(error: unknown, code: ErrorCode): never {
  throw error instanceof PullError ? new SvcError(code, error.message) : error;
}

/** An address elsewhere would let every local page choose what this machine fetches: that stays with `svc pull`. */
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
