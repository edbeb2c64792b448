// Values that requests need in order to get far: ids of things that exist, names of models and voices, small media.

import { pick, type Dice } from "../../support/dice.ts";
import { MARK, PIXEL, schema } from "../seed-parts.ts";
import { CHAT, Media, PICTURE_URL, SOUND_URL } from "./media.ts";

/** Ids that earlier answers contain, such as `resp_…` and `file-…`. */
const IDS = /\b([a-z]+[_-])[0-9a-f]{24,32}\b/g;
/** Ids of each kind that are kept; older ones may have been deleted since. */
const MOST_IDS = 30;
/** Longer answers are lists of ids that are known already. */
const LONGEST_READ = 20_000;

const TOKENS = [1, 2, 4] as const;

/** Ids that requests give themselves, so that others can cancel them. */
const REQUESTS = ["fuzz-1", "fuzz-2", "fuzz-3", "fuzz-4"] as const;

/** Values by field. Those that set how much is computed are small, so that thousands of requests can be answered. */
const FIELDS: Readonly<Record<string, readonly [unknown, ...unknown[]]>> = {
  ...Object.fromEntries(
    ["max_tokens", "max_completion_tokens", "max_output_tokens", "n_predict", "num_predict", "min_tokens"].map(
      (name) => [name, TOKENS],
    ),
  ),
  ...Object.fromEntries(["n", "best_of", "n_cmpl", "batch_size", "n_iter"].map((name) => [name, [1, 1, 1, 2]])),
  ...Object.fromEntries(
    ["schema", "parameters", "input_schema", "json_schema", "guided_json"].map((name) => [name, [schema, {}]]),
  ),
  ...Object.fromEntries(["grammar", "guided_grammar"].map((name) => [name, ["root ::= [a-z]+"]])),
  ...Object.fromEntries(
    ["image_url", "init_images", "file_data", "images"].map((name) => [name, [PICTURE_URL, PIXEL]]),
  ),
  data: [PIXEL, SOUND_URL, "aGk="],
  url: [PICTURE_URL, CHAT],
  document_url: [PICTURE_URL],
  steps: [1],
  width: [64],
  height: [64],
  size: ["64x64"],
  language: ["en", "de-AT", MARK],
  locale: ["en", "de"],
  languages: ["en"],
  endpoint: [CHAT],
  replica: ["http://127.0.0.1:9"],
  "X-Svc-Client": ["a", "b"],
  pages: ["1", "2-"],
  role: ["user", "assistant", "system", "tool"],
  action: ["save", "restore", "erase"],
  filename: ["slot.bin"],
  content: [MARK, "Hi"],
  "X-Request-ID": REQUESTS,
  "anthropic-version": ["2023-06-01"],
  Range: ["bytes=0-9", "bytes=-1", "bytes=1000-"],
};

/** Path parameters, by the part of the path before them. */
const IN_PATHS: typeof FIELDS = { slots: ["0", "1", "7"], upstreams: ["spare"], completions: REQUESTS };

/** The kind of a conversation's id with that of one of its items. */
const ITEM = "conv_/items/";
/** Fields, and path parameters by the part of the path before them, that hold an id made by the server. */
const REFERENCES: Readonly<Record<string, readonly [string, ...string[]]>> = {
  responses: ["resp_"],
  previous_response_id: ["resp_"],
  conversations: ["conv_"],
  conversation: ["conv_"],
  items: ["msg_"],
  "conversations/items": [ITEM],
  id: ["msg_", "rs_", "resp_"],
  after: ["msg_", "file-", "batch_", "resp_"],
  "images/files": ["img_"],
  files: ["file-"],
  input_file_id: ["file-"],
  file_id: ["file-"],
  batches: ["batch_"],
};

export class Supply {
  readonly #ids = new Map<string, string[]>();
  readonly #fields: Readonly<Record<string, readonly unknown[]>>;

  constructor(
    { models, voices }: { readonly models: readonly string[]; readonly voices: readonly string[] },
    readonly media: Media,
  ) {
    this.#fields = { ...FIELDS, ...IN_PATHS, model: models, models, voice: voices };
  }

  /** Asks a server for the names that it knows, and has it draw an image to ask for. */
  static async of(url: string): Promise<Supply> {
    const idsIn = async (path: string) => {
      const text = await (await fetch(url + path)).text();
      return [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id = ""]) => id);
    };
    const [models, voices] = await Promise.all([idsIn("/v1/models"), idsIn("/v1/audio/voices")]);
    const supply = new Supply({ models, voices }, await Media.make());
    const drawing = { prompt: MARK, size: "64x64", steps: 1, response_format: "url" };
    const image = await fetch(`${url}/v1/images/generations`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(drawing),
    });
    supply.learn("", await image.text());
    return supply;
  }

  /** Remembers the ids in an answer from this path. */
  learn(path: string, answer: string): void {
    if (answer.length > LONGEST_READ) return;
    const owner = /conv_[0-9a-f]{32}/.exec(path)?.[0];
    for (const [id, kind = ""] of answer.matchAll(IDS)) {
      this.#remember(kind, id);
      if (owner && kind === "msg_") this.#remember(ITEM, `${owner}/items/${id}`);
    }
  }

  /** Forgets the last id in a path that leads to nothing. */
  forget(path: string): void {
    const [id, kind = ""] = [...path.matchAll(IDS)].at(-1) ?? [];
    if (id === undefined) return;
    for (const list of [kind, ITEM])
      this.#ids.set(
        list,
        this.#of(list).filter((one) => !one.endsWith(id)),
      );
  }

  #of(kind: string): string[] {
    return this.#ids.get(kind) ?? [];
  }

  #remember(kind: string, id: string): void {
    const ids = this.#of(kind);
    if (!ids.includes(id)) this.#ids.set(kind, [...ids, id].slice(-MOST_IDS));
  }

  /** Returns a value for a field or a place in a path; undefined where its schema must be enough. */
  for(name: string, roll: Dice): unknown {
    const [kinds, values] = [REFERENCES[name], this.#fields[name]];
    if (!kinds) return values?.[roll(values.length)];
    const kind = pick(roll, kinds);
    const ids = this.#of(kind);
    // The rolls are the same whatever the server has answered.
    return ids[roll(2 ** 30) % ids.length] ?? `${kind}${"0".repeat(24)}`;
  }
}
