// Requests with media that the scheduler does not know yet.

import { expect, test } from "bun:test";
import type { Media, MediaJob } from "../../ffi/media/api.ts";
import { plainRequest } from "../support/request.ts";
import { FakeLlama } from "../support/fake-llama.ts";
import { startEngine } from "./engine-rig.ts";

/** Every prompt is text for the media library. */
class MediaLlama extends FakeLlama {
  override takePrompt() {
    const done = super.takePrompt();
    return done && "tokens" in done ? { ...done, text: "" } : done;
  }
}

/** Prepares prompts at once; encoding ends when the test says so. */
class SlowMedia implements Media {
  private readonly ended: MediaJob[] = [];
  private readonly encoded = new Set<MediaJob>();
  private jobs = 0;

  projector = () => ({ vision: true, audio: false, width: 1, marker: "" });
  submit(): MediaJob {
    const job = ++this.jobs as MediaJob;
    this.ended.push(job);
    return job;
  }
  end(number: number): void {
    const job = number as MediaJob;
    this.encoded.add(job);
    this.ended.push(job);
  }
  wait = () => this.ended.shift();
  state = (job: MediaJob) => (this.encoded.has(job) ? ("encoded" as const) : ("prepared" as const));
  chunks = () => [
    { kind: "image" as const, part: 0, id: "a", tokens: 4, positions: 4, nonCausal: false },
    { kind: "text" as const, tokens: Int32Array.from(Buffer.from(`say ${"x".repeat(200)}|`)) },
  ];
  encode = () => true;
  embeddings = () => 0n;
  positions = (...[, , , , count]: Parameters<Media["positions"]>) => new Int32Array(count);
  release(): void {}
}

test("count among the waiting ones, also those of batches, until their media are encoded or they end", async () => {
  const library = new SlowMedia();
  const { engine, messages, until } = startEngine(new MediaLlama(512, 2), { context: 512, maxModelLen: 512 }, library);
  const media = [{ kind: "image", id: "a", width: 1, height: 1, rgb: new Uint8Array(3) }] as const;
  const levels = () =>
    messages.flatMap((message) => ("report" in message ? (message.report?.levels ?? []) : [])).at(-1);
  for (const key of [1, 2, 3]) {
    const request = plainRequest("", { id: `${key}`, media, ...(key > 1 && { background: true }) });
    engine.submit(key, { type: "generate", request });
  }
  await until(() => messages.filter(({ type }) => type === "accepted").length === 3);
  expect(levels()?.waitingFor).toMatchObject({ media: 3, sequence: 0 });
  library.end(1);
  await until(() => levels()?.running === 1);
  expect(levels()?.waitingFor.media).toBe(2);
  engine.cancel(2, "client");
  expect(levels()?.waitingFor.media).toBe(1);
  engine.cancel(3, "client");
  expect(levels()?.waitingFor.media).toBe(0);
});
