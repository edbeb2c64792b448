// Prompts with sounds that are decoded before the media library gets them, from their request until they are encoded.

import { expect, test } from "bun:test";
import { PLAIN_FORMAT, type PromptRequest, type PromptResult } from "../../ffi/llama/api.ts";
import type { Media as MediaLibrary, MediaJob, MediaState, Medium } from "../../ffi/media/api.ts";
import type { SoundTools } from "../../src/audio/decode/sound-tools.ts";
import { contentOf, type Media } from "../../src/domain/media.ts";
import { Intake, type ReadyPrompt } from "../../src/engine/text/child/intake.ts";
import { SoundQueue } from "../../src/engine/text/child/sound-queue.ts";
import { FakeLlama } from "../support/fake-llama.ts";
import { plainRequest } from "../support/request.ts";
import { SMALL_ENGINE } from "./fixtures/small-engine.ts";

const unused = (): never => {
  throw new Error("not expected");
};

class RenderingLlama extends FakeLlama {
  private readonly rendered: PromptResult[] = [];
  private nextId = 1000;

  override submitPrompt(request: PromptRequest): number {
    if (!("messages" in request) || !request.media || !request.sampler) return super.submitPrompt(request);
    const [job, sampler] = [this.nextId++, this.nextId++ as never];
    this.samplers.set(sampler, request.sampler);
    this.rendered.push({ job, tokens: new Int32Array(), text: "", format: PLAIN_FORMAT, sampler });
    return job;
  }
  override takePrompt = () => this.rendered.shift() ?? super.takePrompt();
}

/** A media library that does everything at once. */
class QuickLibrary implements MediaLibrary {
  /** Kinds and bytes of all media it received. */
  readonly received: string[] = [];
  readonly living = new Set<MediaJob>();
  private readonly ended: [MediaJob, MediaState][] = [];
  private current: MediaState = "open";
  private jobs = 0;

  /** `tokens`: of each prompt; an embedding has one MiB. */
  constructor(private readonly tokens: number) {}

  projector = () => ({ vision: true, audio: true, width: 2 ** 18, marker: "" });
  submit(_: string, media: readonly Medium[]): MediaJob {
    const job = ++this.jobs as MediaJob;
    this.received.push(...media.map((one) => `${one.kind} ${contentOf(one).length}`));
    this.living.add(job);
    this.ended.push([job, "prepared"]);
    return job;
  }
  encode(job: MediaJob): boolean {
    this.ended.push([job, "encoded"]);
    return true;
  }
  wait(): MediaJob | undefined {
    const [job, state = "open"] = this.ended.find(([one]) => this.living.has(one)) ?? [];
    this.ended.splice(0, this.ended.findIndex(([one]) => one === job) + 1 || this.ended.length);
    this.current = state;
    return job;
  }
  state = () => this.current;
  chunks() {
    const { tokens } = this;
    return [{ kind: "audio" as const, part: 0, id: "a", tokens, positions: tokens, nonCausal: false }];
  }
  release(job: MediaJob): void {
    this.living.delete(job);
  }
  embeddings = unused;
  positions = unused;
}

/** The library's prompts have `tokens` tokens. Decoded sounds of one prompt take all memory. */
function start(tokens: number) {
  async function* run() {
    yield new Uint8Array(1600 * Float32Array.BYTES_PER_ELEMENT);
  }
  const tools: SoundTools = { audio: { open: unused, openConverter: unused }, run, ffmpeg: "ffmpeg" };
  const sounds = new SoundQueue(tools, 60, 1);
  const llama = new RenderingLlama();
  const library = new QuickLibrary(tokens);
  const told: string[] = [];
  const encoded: ReadyPrompt[] = [];
  const handlers = {
    ready: ({ key }: ReadyPrompt) => told.push(`ready ${key}`) > 0,
    encoded: (prompt: ReadyPrompt) => {
      told.push(`encoded ${prompt.key}`);
      encoded.push(prompt);
    },
    refused: (key: number) => void told.push(`refused ${key}`),
    answered: (key: number) => void told.push(`answered ${key}`),
    warn: unused,
  };
  const intake = new Intake(llama, library, SMALL_ENGINE, handlers, sounds);
  const request = (key: number, kind: Media["kind"] = "audio") => {
    const source = kind === "audio" ? { kind, data: "" } : { kind, url: "", detail: "auto" as const };
    const medium: Media =
      kind === "audio"
        ? { kind, id: `${key}`, bytes: Buffer.from("#!AMR\n") }
        : { kind, id: `${key}`, width: 1, height: 1, rgb: new Uint8Array(3) };
    const content = [{ type: "media" as const, source, param: "messages" }];
    return plainRequest("", { messages: [{ role: "user", content }], media: [medium] });
  };
  const settle = async () => {
    for (let turn = 0; turn < 50; turn++) {
      intake.collect(0);
      await Bun.sleep(0);
    }
    return told.splice(0);
  };
  return { intake, llama, library, sounds, encoded, request, settle };
}

test("sounds of prompts that are encoded, counted or cancelled keep none of others from being decoded", async () => {
  const { intake, llama, library, sounds, encoded, request, settle } = start(100);
  intake.submit(1, request(1));
  expect(await settle()).toEqual(["ready 1", "encoded 1"]);
  intake.count(2, request(2));
  expect(await settle()).toEqual(["answered 2"]);
  for (const key of [3, 4]) intake.submit(key, request(key));
  intake.collect(0);
  intake.cancel(3);
  expect(await settle()).toEqual(["ready 4", "encoded 4"]);
  for (const { media, sampler } of encoded) {
    if (media) intake.release(media);
    llama.freeSampler(sampler);
  }
  expect([llama.samplers.size, library.living.size, sounds.busy, intake.busy]).toEqual([0, 0, false, false]);
});

test("sounds of prompts that are refused keep none of others from being decoded", async () => {
  const { intake, llama, library, sounds, request, settle } = start(1000);
  for (const key of [1, 2]) intake.submit(key, request(key));
  expect(await settle()).toEqual(["refused 1", "refused 2"]);
  expect([llama.samplers.size, library.living.size, sounds.busy, intake.busy]).toEqual([0, 0, false, false]);
});

test("a decoded sound is prepared once more when there is memory to encode it", async () => {
  const { intake, library, sounds, encoded, request, settle } = start(200);
  for (const key of [1, 2]) intake.submit(key, request(key, "image"));
  intake.submit(3, request(3));
  expect(await settle()).toEqual(["ready 1", "ready 2", "encoded 1", "encoded 2", "ready 3"]);
  expect(sounds.busy).toBe(true);
  if (encoded[0]?.media) intake.begun(encoded[0].media);
  expect(await settle()).toEqual(["encoded 3"]);
  expect(library.received).toEqual(["image 3", "image 3", "audio 3244", "audio 3244"]);
  expect(intake.busy).toBe(false);
});
