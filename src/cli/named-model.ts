// Resolves an option that names a model: a file, or a model that svc pull downloaded.

import { existsSync } from "node:fs";
import { basename, isAbsolute } from "node:path";
import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { hubSettings } from "../config/hub.ts";
import type { Row } from "../config/option.ts";
import { modelOptions } from "../config/options/model.ts";
import { didYouMean } from "../config/parse.ts";
import { ModelFileError } from "../model/gguf.ts";
import { KNOWN_SETS, type ModelPart } from "../store/models/known-sets.ts";
import { filesOf, ModelStore, sourceOf, type Manifest } from "../store/models/model-store.ts";
import { PullError } from "../store/models/pull-error.ts";
import { hubName, isRepo, parseReference, sourceUrl } from "../store/models/reference.ts";
import { inFull } from "../store/models/short-names.ts";
import { ASK_HINT } from "./arguments.ts";
import { commandNames } from "./commands.ts";
import { ExitError } from "./exit-codes.ts";

export interface NamedModel {
  /** The file to load; the first one of a model in several files. */
  readonly path: string;
  /** The projector that came with a downloaded model. */
  readonly mmproj?: string;
  /** Name and other files of a downloaded model that consists of parts. */
  readonly set?: {
    readonly name: string;
    readonly parts: readonly { readonly part: ModelPart; readonly path: string }[];
  };
}

/** The store lacks `what` of a model, which svc pull downloads under the name `operand`. */
export class MissingModelError extends ExitError {
  constructor(
    problem: string,
    readonly operand: string,
    what: string,
  ) {
    super("model", `${problem}: svc pull ${operand} downloads ${what}, and so does this command with --pull.`);
  }
}

/**
 * Returns the files of the model `name`: an absolute path, or a name in the store. Throws MissingModelError when the
 * store lacks the model or has it only in part, and ExitError when nothing has this name or the store cannot be read.
 */
export function namedModel(name: string, modelsDir: string): NamedModel {
  if (isAbsolute(name)) {
    if (isQuestion(name) && !existsSync(name)) throw new ExitError("model", `There is no file ${name}.${ASK_HINT}`);
    return { path: name };
  }
  const store = new ModelStore(modelsDir);
  const found = findNamed(name, store);
  if (!found) {
    const problem = `There is no file ${name} and no model of this name in ${modelsDir}`;
    if (isDownloadable(name)) throw new MissingModelError(problem, name, "it");
    const meant = didYouMean(name, commandNames, "svc ");
    if (meant) throw new ExitError("model", `There is no command, file or model ${name}.${meant}`);
    throw new ExitError(
      "model",
      `${problem}: svc list shows what was pulled, svc pull owner/repository downloads more, svc --help shows the commands.`,
    );
  }
  if (!store.isReady(found)) {
    // A URL says more than the name: the revision, and what is signed.
    const operand = isUrl(name) ? name : sourceOf(found);
    throw new MissingModelError(`${found.name} is not complete`, operand, "the rest");
  }
  const [first] = found.files;
  const parts = found.files.flatMap(({ part, path }) => (part ? [{ part, path: store.path(path) }] : []));
  return {
    path: store.path(first?.path ?? ""),
    ...(found.projector && { mmproj: store.path(found.projector.path) }),
    ...(parts.length > 0 && { set: { name: found.name, parts } }),
  };
}

/** Returns whether a text that was taken for a path may be a question: several words, and no ending of a file. */
const isQuestion = (path: string): boolean => /\s/.test(basename(path)) && !/\.[a-z]\w{1,11}$/i.test(path);

/** Returns the model that svc pull stored under a name, or from a URL. Throws ExitError when the store cannot be read. */
function findNamed(name: string, store: ModelStore): Manifest | undefined {
  return readStore(() => {
    const found = store.find(name);
    if (found || !isUrl(name)) return found;
    const reference = parseReference(name, hubSettings(processEnvironment()).endpoint);
    // The hub ignores case in names, as the store does.
    const comparable = (url: string) => (reference.kind === "hub" ? url.toLowerCase() : url);
    const source = comparable(sourceUrl(reference));
    const among = store.list().filter(({ url }) => comparable(url) === source);
    return reference.kind === "hub" ? store.findAll(hubName(reference), among)[0] : among[0];
  });
}

const isUrl = (name: string): boolean => /^https?:\/\//i.test(name);

/** Returns whether svc pull takes the name, as far as its form shows. */
const isDownloadable = (name: string): boolean =>
  isUrl(name) || KNOWN_SETS.has(name.toLowerCase()) || isRepo(inFull(name).replace(/:.*$/, ""));

/** Returns what `read` finds in the store. Throws ExitError when the store cannot be read. */
export function readStore<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof PullError ? new ExitError("model", error.message) : error;
  }
}

/**
 * Reads the files of these models. Throws ExitError as `namedModel` does, and ModelFileError when a file is unusable or
 * two models have the same name.
 */
export const readEach = <Model extends { readonly id: string }>(
  names: readonly string[],
  modelsDir: string,
  kind: string,
  read: (path: string) => Model,
): Model[] =>
  eachOnce(
    names.map((name) => read(namedModel(name, modelsDir).path)),
    kind,
  );

/** Returns the models. Throws ModelFileError when two have the same name; `kind` is the word for them in the error. */
export function eachOnce<Model extends { readonly id: string }>(models: Model[], kind: string): Model[] {
  const twice = models.find(({ id }, at) => models.findIndex((other) => other.id === id) < at);
  if (!twice) return models;
  throw new ModelFileError(`Two ${kind} models have the name ${twice.id}; clients could select only one of them.`);
}

/** Keeps `svc rm` from removing the models that this server serves until the returned function is called. */
export const holdModels = (config: Config): Promise<() => void> =>
  new ModelStore(config.modelsDir).hold(filesInUse(config));

/** Returns all files that a server with this configuration uses, at once or later. */
export function filesInUse(config: Config): string[] {
  const store = new ModelStore(config.modelsDir);
  const filesOfName = (name: string) => {
    const found = isAbsolute(name) ? undefined : findNamed(name, store);
    return found ? filesOf(found).map(({ path }) => store.path(path)) : [name];
  };
  // These sets are served without being named in an option.
  const sets = ["kokoro", "ppocr"].map((name) => store.get(name)).filter((set) => set !== undefined);
  const unnamed = sets.flatMap(filesOf).map(({ path }) => store.path(path));
  return [...namesIn(config).flatMap(filesOfName), ...unnamed];
}

/** Returns the paths among the names of models and adapters in the options that a server uses. */
export const givenPaths = (config: Config): string[] =>
  namesIn(config).filter((name) => isAbsolute(name) && (config.speculation || name !== config.draft));

/** Options of the model that the server loads from the start. */
const OF_SERVED: readonly (keyof typeof modelOptions)[] = ["model", "mmproj", "draft", "lora"];

/** Returns the names and paths of models and adapters in the options that a server uses. */
function namesIn(config: Config): string[] {
  const rows = Object.entries(modelOptions) as [keyof typeof modelOptions, Row][];
  const naming = rows.filter(([field, { orName, paths }]) => orName || paths || field === "mmproj");
  const used = naming.filter(([field]) => config.serveModel || !OF_SERVED.includes(field));
  const values = used.map(([field]) => config[field] ?? []).flat();
  return values.map((value) => (typeof value === "object" ? value.path : String(value)));
}
