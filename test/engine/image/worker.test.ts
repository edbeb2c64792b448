// The loop of an image engine over a library that draws nothing: whose turn it is, and how an image is stopped.

import { expect, test } from "bun:test";
import type { DrawOptions, DrawState, ImageLibrary, ImageTraits } from "../../../ffi/image/api.ts";
import type { ImageModel, ImageWork } from "../../../src/domain/image.ts";
import { ImageWorker } from "../../../src/engine/image/child/worker.ts";
import type { FromPainter } from "../../../src/engine/image/protocol.ts";
import { until } from "../../http/harness.ts";

/** Does a step each time it is looked at. */
class FakePainter implements ImageLibrary {
  /** The descriptions that were begun, in their order. */
  readonly begun: string[] = [];
  stops = 0;
  private drawing: DrawOptions | undefined;
  private step = 0;

  start(options: DrawOptions): void {
    if (this.drawing) throw new Error("another image is drawn");
    this.begun.push(options.prompt);
    this.drawing = options;
    this.step = 0;
  }
  state(): DrawState {
    if (!this.drawing) return "none";
    return this.step < this.drawing.steps ? "drawing" : "done";
  }
  progress() {
    const { steps = 0, width = 0, height = 0 } = this.drawing ?? {};
    if (this.step < steps) this.step++;
    return { step: this.step, steps, previews: 0, width, height };
  }
  take(): Uint8Array {
    const { width = 0, height = 0 } = this.drawing ?? {};
    this.drawing = undefined;
    return new Uint8Array(width * height * 3);
  }
  stop(): void {
    this.stops++;
    this.drawing = undefined;
  }
  preview = () => new Uint8Array();
  loadPoll = () => ({ state: "ready" }) as const;
  traits = () => traits;
  drainLog = () => [];
  loadStart() {}
  listenForAborts() {}
  unload() {}
}

const traits: ImageTraits = {
  family: "Fake",
  multiple: 8,
  isTransformer: true,
  hasTinyDecoder: true,
  takesReferences: false,
  needsReference: false,
  device: "CPU",
  sampler: "euler",
  scheduler: "simple",
  samplers: ["euler"],
  schedulers: ["simple"],
  scale: 1,
};
const model: ImageModel & { name: string } = {
  name: "fake",
  family: "Fake",
  bytes: 1,
  device: "CPU",
  size: { width: 8, height: 8 },
  largestSide: 64,
  steps: 2,
  guidance: 1,
  sampler: "euler",
  samplers: ["euler"],
  schedulers: ["simple"],
  adapters: [],
  edits: { image: true, mask: true, references: false },
};

function start() {
  const library = new FakePainter();
  const sent: FromPainter[] = [];
  const painter = { model, multiple: 8, needsImage: false, scheduler: "simple", scale: 1, adapters: [] };
  const worker = new ImageWorker({ library, traits, painter, threads: () => 1 }, model, (message) =>
    sent.push(message),
  );
  let key = 0;
  return {
    library,
    worker,
    sent,
    ended: () => sent.flatMap((message) => (message.type === "events" ? message.finished : [])),
    /** Returns the job's key. */
    submit(prompt: string, client: string, changes: Partial<ImageWork> = {}): number {
      const encoding = { format: "png", tellsHow: false } as const;
      const work: ImageWork = { prompt, count: 1, seed: 1, previews: 0, encoding, ...changes };
      worker.submit(++key, { request: key, image: 0, work, client });
      return key;
    },
  };
}

test("clients take turns, an image each, however much each of them wants", async () => {
  const { library, worker, submit, ended } = start();
  const clients = ["ada", "bob", "cyd", "dan", "eve"];
  // Each client's jobs come in one go.
  for (const client of clients) for (const job of [1, 2, 3, 4]) submit(`${client} ${job}`, client);
  await Bun.sleep(0);
  while (ended().length < 20) await worker.step();
  expect(library.begun).toEqual([1, 2, 3, 4].flatMap((job) => clients.map((client) => `${client} ${job}`)));
});

test("a client that comes while another has many waiting waits for one of them at most", async () => {
  const { library, worker, submit } = start();
  for (const job of [1, 2, 3, 4]) submit(`ada ${job}`, "ada");
  await Bun.sleep(0);
  await worker.step();
  submit("bob 1", "bob");
  await Bun.sleep(0);
  for (let turn = 0; turn < 2; turn++) await worker.step();
  expect(library.begun).toContain("bob 1");
});

test("an image that is cancelled ends between its steps, one that waits is never begun, and the next one is drawn", async () => {
  const { library, worker, sent, submit, ended } = start();
  const endless = submit("endless", "ada", { steps: 150 });
  const unwanted = submit("unwanted", "bob");
  const wanted = submit("wanted", "cyd");
  await Bun.sleep(0);
  const drawing = worker.step();
  await until(() => sent.some((message) => message.type === "events"));
  worker.cancel(unwanted);
  worker.cancel(endless);
  await drawing;
  expect(library.stops).toBe(1);
  const outcome = sent.findLast((message) => "key" in message && message.key === endless);
  expect(outcome).toMatchObject({ code: "request_cancelled" });
  while (ended().length < 1) await worker.step();
  expect(library.begun).toEqual(["endless", "wanted"]);
  expect(ended().map(({ key }) => key)).toEqual([wanted]);
});
