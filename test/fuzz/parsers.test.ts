// Damaged grammars, schemas, values for templates, images and sounds, as a client might send them, to what reads them here
// and in the native libraries: each is taken, or refused with an error that the client is told. FUZZ_CASES and FUZZ_SEED
// make it longer, or another one; `npm run test:sanitize` runs it with libraries that watch memory.

import { expect, setDefaultTimeout, test } from "bun:test";
import type { PromptRequest } from "../../ffi/llama/api.ts";
import { LlamaError, SAMPLER_DEFAULTS } from "../../ffi/llama/api.ts";
import { MediaError, type Medium } from "../../ffi/media/api.ts";
import { decodeKwargs } from "../../src/dialect/fields/reasoning.ts";
import { grammarConstraint } from "../../src/dialect/fields/grammar.ts";
import { schemaConstraint } from "../../src/json-schema/constraint.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { Constraint } from "../../src/domain/generate.ts";
import { JsonBounds } from "../../src/domain/json-bounds.ts";
import type { MediaSource } from "../../src/domain/media.ts";
import { tooMuchToRender } from "../../src/engine/text/child/prompt-bounds.ts";
import { defaultMediaLimits } from "../../src/media/limits.ts";
import { loadMedia } from "../../src/media/load-media.ts";
import { dataUrl } from "../media/files.ts";
import { chat, decode, load, prefill, prompt, clear } from "../native/harness.ts";
import { isBuilt, mediaRig, start, submit, WAIT_MS } from "../native/media-harness.ts";
import { plainRequest } from "../support/request.ts";
import { pick, type Dice } from "../support/dice.ts";
import { damaged } from "./bytes.ts";
import { mutated, write, type Fields } from "./mutate.ts";
import * as seeds from "./parser-seeds.ts";
import { fuzzParser, type Parser, type Verdict } from "./parsers.ts";

setDefaultTimeout(600_000);

const USUAL = 60;
const options = { count: Number(process.env["FUZZ_CASES"] ?? USUAL), seed: Number(process.env["FUZZ_SEED"] ?? 1) };
const limits = { ...defaultMediaLimits, maxPixels: 4_000_000 };
const rig = mediaRig();
const text = (input: Uint8Array) => new TextDecoder().decode(input);

/** Whether this is an error that the client is told; throws it otherwise. */
function refused(error: unknown): Verdict {
  if (error instanceof SvcError && ["invalid_value", "invalid_type"].includes(error.code)) return "refused";
  const { code } = error instanceof LlamaError || error instanceof MediaError ? error : {};
  if (code === "bad-grammar" || code === "bad-medium") return "refused";
  throw error;
}

/** Renders a prompt and writes some tokens behind it. */
function answered(request: PromptRequest): Verdict {
  try {
    const { tokens, sampler } = prompt(rig.llama, request);
    if (sampler === undefined) throw new Error("no sampler was made");
    clear(rig.llama);
    let rows = prefill(tokens.subarray(-16), 0, sampler);
    for (let step = 0; step < 8 && !rig.llama.isStuck(sampler); step++) {
      const sampled = decode(rig.llama, rows);
      if (typeof sampled === "string") throw new Error(sampled);
      const [token = 0] = sampled;
      if (rig.llama.isEnd(token)) break;
      rows = [{ token, position: tokens.subarray(-16).length + step, sequence: 0, sampler }];
    }
    rig.llama.freeSampler(sampler);
    return "taken";
  } catch (error) {
    return refused(error);
  }
}

/** An answer that follows what the client asks for. */
function constrained(constraint: () => Constraint): Verdict {
  try {
    const { schema, grammar } = constraint();
    const sampler = { ...SAMPLER_DEFAULTS, temperature: 1, seed: 1 };
    return answered({
      text: "hi",
      parseSpecial: false,
      addSpecial: false,
      sampler,
      ...(schema && { schema }),
      ...(grammar !== undefined && { grammar }),
    });
  } catch (error) {
    return refused(error);
  }
}

/** JSON objects, changed as values and then, now and then, as bytes. */
const json = (valid: readonly [Fields, ...Fields[]]) => (roll: Dice) => {
  const bytes = Buffer.from(write(mutated(pick(roll, valid), valid, roll)));
  return roll(8) === 0 ? damaged(bytes, roll) : bytes;
};

/** What is no object, or a deep one, is refused before any of these parsers. */
function fieldsOf(input: Uint8Array): Fields | undefined {
  if (new JsonBounds().push(input)) return undefined;
  try {
    const value: unknown = JSON.parse(text(input));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** Loads a medium as a request's, and gives it to the engine's library. */
async function heardOrSeen(source: MediaSource, otherwise?: Medium): Promise<Verdict> {
  let medium = otherwise;
  let verdict: Verdict = "taken";
  try {
    const { id, ...loaded } = await loadMedia(source, "field", limits, new AbortController().signal);
    if (loaded.kind === "image") {
      expect(loaded.rgb.length).toBe(loaded.width * loaded.height * 3);
      medium = { ...loaded, id };
    }
  } catch (error) {
    verdict = refused(error);
  }
  if (!medium) return verdict;
  try {
    const job = submit(rig, medium);
    expect(rig.media.wait(WAIT_MS)).toBe(job);
    const state = rig.media.state(job);
    rig.media.release(job);
    if (typeof state === "object" && state.code === "bad-medium") return "refused";
    expect(state).toBeOneOf(["prepared", "encoded"]);
  } catch (error) {
    return refused(error);
  }
  return verdict;
}

const parsers: Readonly<Record<string, Parser>> = {
  grammars: {
    make: (roll) => damaged(Buffer.from(pick(roll, seeds.grammars)), roll, seeds.grammarWords),
    judge: (input) => constrained(() => grammarConstraint(text(input))),
  },
  schemas: {
    make: json(seeds.schemas),
    judge: (input) => {
      const fields = fieldsOf(input);
      return fields ? constrained(() => schemaConstraint(fields, false, "schema")) : "refused";
    },
  },
  "template values": {
    make: json(seeds.kwargs),
    judge: (input) => {
      const kwargs = fieldsOf(input);
      if (!kwargs) return "refused";
      try {
        decodeKwargs(kwargs);
        if (tooMuchToRender(plainRequest("hi", { templateKwargs: kwargs }), { maxModelLen: 0 })) return "refused";
        return answered(chat([{ role: "user", content: "hi" }], { kwargs }));
      } catch (error) {
        // The template refuses them: what it says is its own.
        if (error instanceof LlamaError && !error.message.includes("model is loaded")) return "refused";
        return refused(error);
      }
    },
  },
};

const media: Readonly<Record<string, Parser>> = {
  images: {
    make: (roll) => damaged(pick(roll, seeds.images), roll),
    judge: (input) => heardOrSeen({ kind: "image", url: dataUrl(input), detail: "low" }),
  },
  sounds: {
    make: (roll) => damaged(pick(roll, seeds.sounds), roll),
    judge: (input) =>
      // The library gets it, whatever is thought of it here.
      heardOrSeen(
        { kind: "audio", data: Buffer.from(input).toString("base64") },
        { kind: "audio", id: String(Bun.hash(input)), bytes: input },
      ),
  },
};

function fuzzed(of: Readonly<Record<string, Parser>>, loaded: () => Promise<void>): void {
  test.skipIf(!isBuilt).each(Object.keys(of))("damaged %s are taken or refused", async (name) => {
    await loaded();
    // A sound is filled up to half a minute, which takes that of a hundred others.
    const count = name === "sounds" ? Math.ceil(options.count / 5) : options.count;
    const verdicts = await fuzzParser(name.replace(" ", "-"), of[name] as Parser, { ...options, count });
    if (options.count > USUAL) console.log(`${name}: ${verdicts.taken} taken, ${verdicts.refused} refused`);
    // Otherwise nearly nothing is tested.
    expect(Math.min(verdicts.taken, verdicts.refused)).toBeGreaterThan(count / 20);
  });
}

fuzzed(parsers, async () => expect(await load(rig.llama)).toBeUndefined());
fuzzed(media, () => start(rig, "tiles"));
