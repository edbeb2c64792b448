// Offers the models that `svc pull` downloaded: those that are in the folder at the moment when a request needs them.

import { statSync } from "node:fs";
import { errorMessage } from "../domain/error-message.ts";
import type { ListedModel } from "../domain/model.ts";
import type { ObservedEngine } from "../engine/process/status.ts";
import { ManifestList } from "../store/models/manifest-list.ts";
import { filesOf, type Manifest, type ModelStore } from "../store/models/model-store.ts";
import { PullError } from "../store/models/pull-error.ts";
import type { Logger } from "../telemetry/log.ts";
import type { ModelSource, Served } from "./model-router.ts";
import type { OfferedModel } from "./offered-models.ts";
import { SYSTEM_MODEL } from "./system-model.ts";

interface PulledEngine extends ObservedEngine {
  stop(): Promise<void>;
  /** Ends its process once that has no more requests. */
  retire(): void;
}

/** A model, and its engine, which has not been started. */
export interface OpenedModel {
  readonly engine: PulledEngine;
  readonly offered: OfferedModel;
}

interface PulledModelsDeps {
  readonly store: ModelStore;
  /** Returns undefined for a model of a kind that is not offered. Throws when its files cannot be used. */
  readonly open: (model: Manifest) => OpenedModel | undefined;
  /** The names of models that options offer, by their first file. */
  readonly given: ReadonlyMap<string, string>;
  readonly log: Logger;
}

/** A model whose files were read. */
interface Known {
  /** Differs once one of its files was replaced. */
  readonly version: string;
  readonly opened: OpenedModel | undefined;
}

const NONE: readonly Manifest[] = [];

export class PulledModels implements ModelSource {
  private readonly list: ManifestList;
  private seen = NONE;
  private candidates = NONE;
  private readonly known = new Map<string, Known>();
  /** Engines of models that are no longer there, until their last requests have ended. */
  private retired: readonly PulledEngine[] = [];
  private complaint: string | undefined;

  constructor(private readonly deps: PulledModelsDeps) {
    this.list = new ManifestList(deps.store);
  }

  /** Returns the models, those first that were downloaded first: a new one must not become the default. */
  models(): readonly ListedModel[] {
    return this.open().map(({ offered }) => offered.describe());
  }

  find(name: string): Served | undefined {
    const model = this.manifests().find((one) => one.name === name);
    return model && this.opened(model)?.offered.served;
  }

  /** Lets go of models that are no longer there. */
  refresh(): void {
    this.manifests();
  }

  /** Returns the name of the model that `--model` would find by this name. Ollama's clients may add `:latest`. */
  fullName(name: string): string | undefined {
    const { store } = this.deps;
    const models = this.manifests();
    const found = store.findAll(name.replace(/:latest$/i, ""), models);
    const [first] = found.flatMap((model) => this.givenAs(model) ?? (this.opened(model) ? [model.name] : []));
    return first;
  }

  /** Returns the engines of all models, after those that are about to end. */
  engines(): readonly PulledEngine[] {
    const engines = this.open().map(({ engine }) => engine);
    return [...this.ending(), ...engines];
  }

  private open(): OpenedModel[] {
    return this.manifests().flatMap((model) => this.opened(model) ?? []);
  }

  /** Returns the models that may be offered. */
  private manifests(): readonly Manifest[] {
    const all = this.read();
    if (all === this.seen) return this.candidates;
    this.seen = all;
    this.candidates = all.filter(isCandidate).toSorted(byDownload);
    const names = new Set(this.candidates.map(({ name }) => name));
    for (const name of this.known.keys()) if (!names.has(name)) this.forget(name);
    return this.candidates;
  }

  private read(): readonly Manifest[] {
    try {
      const all = this.list.current();
      this.complaint = undefined;
      return all;
    } catch (error) {
      if (!(error instanceof PullError)) throw error;
      if (this.complaint !== error.message) this.deps.log.warn(error.message);
      this.complaint = error.message;
      return NONE;
    }
  }

  /** Returns a model, the same until its files change; undefined if it is not offered. */
  private opened(model: Manifest): OpenedModel | undefined {
    const { name } = model;
    const known = this.known.get(name);
    const version = this.givenAs(model) === undefined ? this.versionOf(model) : undefined;
    if (known?.version === version) return known?.opened;
    this.forget(name);
    if (version === undefined) return undefined;
    const opened = this.openOrLog(model);
    this.known.set(name, { version, opened });
    return opened;
  }

  private openOrLog(model: Manifest): OpenedModel | undefined {
    const { open, log } = this.deps;
    try {
      return open(model);
    } catch (error) {
      log.warn("a downloaded model is not offered", { model: model.name, why: errorMessage(error) });
      return undefined;
    }
  }

  private forget(name: string): void {
    const engine = this.known.get(name)?.opened?.engine;
    this.known.delete(name);
    if (!engine) return;
    engine.retire();
    this.retired = [...this.ending(), engine];
  }

  private ending(): readonly PulledEngine[] {
    this.retired = this.retired.filter((engine) => engine.status().state !== "unloaded");
    return this.retired;
  }

  private givenAs({ files: [first] }: Manifest): string | undefined {
    return first && this.deps.given.get(this.deps.store.path(first.path));
  }

  /** Returns undefined unless all files are there. */
  private versionOf(model: Manifest): string | undefined {
    const { store } = this.deps;
    if (!store.isReady(model)) return undefined;
    const files = filesOf(model).map(({ path }) => {
      const { size, mtimeMs } = statSync(store.path(path), { throwIfNoEntry: false }) ?? {};
      return [path, size, mtimeMs];
    });
    return JSON.stringify(files);
  }
}

/** Returns whether the model is one file, or one in parts, in a format of language models, with a name of its own. */
const isCandidate = ({ name, files }: Manifest): boolean =>
  name !== SYSTEM_MODEL && files.every(({ path, part }) => part === undefined && /\.gguf$/i.test(path));

const byDownload = (a: Manifest, b: Manifest): number => ((a.pulled ?? "") < (b.pulled ?? "") ? -1 : 1);
