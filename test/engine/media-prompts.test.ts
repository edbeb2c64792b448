// Prompts with media: those whose requests were cancelled, and those that wait.

import { describe, expect, test } from "bun:test";
import type { MediaJob, MediaState } from "../../ffi/media/api.ts";
import { MediaPrompts, type MediaPrompt } from "../../src/engine/text/child/media-prompts.ts";

/** A media library that prepares jobs at once and has all embeddings cached. */
class CachedLibrary {
  readonly done: string[] = [];
  /** States of the jobs, in the order in which they are reported. */
  readonly ended: [MediaJob, MediaState][] = [];
  private jobs = 0;
  private current: MediaState = "prepared";

  projector = () => ({ vision: true, audio: false, width: 1, marker: "" });
  submit(): MediaJob {
    const job = ++this.jobs as MediaJob;
    this.ended.push([job, "prepared"]);
    return job;
  }
  wait(): MediaJob | undefined {
    const [job, state] = this.ended.shift() ?? [];
    if (state !== undefined) this.current = state;
    return job;
  }
  state(): MediaState {
    return this.current;
  }
  chunks() {
    return [{ kind: "text" as const, tokens: Int32Array.of(1, 2) }];
  }
  encode(job: MediaJob): boolean {
    this.done.push(`encode ${job}`);
    return false;
  }
  release(job: MediaJob): void {
    this.done.push(`release ${job}`);
  }
}

test("a prompt that is dropped once its length is known is released, and none of its media is encoded", () => {
  const library = new CachedLibrary();
  const prompts = new MediaPrompts<string>(library);
  prompts.submit("", [], "counted");
  prompts.submit("", [], "answered");
  const told: string[] = [];
  for (const { tag, state } of prompts.take()) {
    told.push(`${tag} ${state}`);
    if (tag === "counted") prompts.drop((other) => other === tag);
  }
  expect(told).toEqual(["counted prepared", "answered prepared", "answered encoded"]);
  expect(library.done).toEqual(["release 1", "encode 2"]);
  expect(prompts.busy).toBe(false);
});

test("a failure right after the drop is not reported", () => {
  class FailingLibrary extends CachedLibrary {
    override submit(): MediaJob {
      const job = super.submit();
      this.ended.push([job, { error: "no memory", code: "failed" }]);
      return job;
    }
  }
  const library = new FailingLibrary();
  const prompts = new MediaPrompts<string>(library);
  prompts.submit("", [], "counted");
  const told: string[] = [];
  for (const { tag, state } of prompts.take()) {
    told.push(state);
    prompts.drop((other) => other === tag);
  }
  expect(told).toEqual(["prepared"]);
  expect(library.done).toEqual(["release 1"]);
});

/** A media library in which preparing takes no time, and encoding ends when the test says so. */
class SlowLibrary {
  /** Jobs that were not released. */
  readonly living = new Set<MediaJob>();
  /** Jobs that are encoded, or being encoded. */
  readonly encoding = new Set<MediaJob>();
  private readonly states = new Map<MediaJob, MediaState>();
  private readonly ended: MediaJob[] = [];

  /** `tokens`: of the one image in each prompt; an embedding has one MiB. */
  constructor(private readonly tokens: number) {}

  projector = () => ({ vision: true, audio: false, width: 2 ** 18, marker: "" });
  submit(): MediaJob {
    const job = (this.states.size + 1) as MediaJob;
    this.living.add(job);
    this.end(job, "prepared");
    return job;
  }
  encode(job: MediaJob): boolean {
    this.encoding.add(job);
    return true;
  }
  end(job: MediaJob, state: MediaState): void {
    this.states.set(job, state);
    this.ended.push(job);
  }
  wait = (): MediaJob | undefined => this.ended.shift();
  state = (job: MediaJob): MediaState => this.states.get(job) ?? "open";
  chunks = () => [
    { kind: "image" as const, part: 0, id: "a", tokens: this.tokens, positions: this.tokens, nonCausal: false },
  ];
  release(job: MediaJob): void {
    this.living.delete(job);
    this.encoding.delete(job);
  }
}

describe("prompts that wait", () => {
  /** `mib`: mebibytes of each prompt's embeddings. */
  function start(mib: number) {
    const library = new SlowLibrary(mib);
    const prompts = new MediaPrompts<string>(library);
    const prepared: string[] = [];
    const encoded = new Map<string, MediaPrompt>();
    const look = () => {
      for (const { tag, ...update } of prompts.take()) {
        if (update.state === "prepared") prepared.push(tag);
        if (update.state === "encoded") encoded.set(tag, update.prompt);
      }
    };
    /** Lets the library end what it encodes. */
    const settle = () => {
      look();
      look();
      for (const job of library.encoding) library.end(job, "encoded");
      look();
    };
    return { library, prompts, prepared, encoded, look, settle };
  }

  test("have a length at once, but their media are encoded only for those whose computation is near", () => {
    const { library, prompts, prepared, encoded, look, settle } = start(64);
    const tags = Array.from({ length: 40 }, (_, at) => `a ${at}`);
    for (const tag of tags) prompts.submit("", [], tag, { client: "a" });
    look();
    look();
    expect(prepared).toEqual(tags);
    expect([library.encoding.size, library.living.size]).toEqual([4, 4]);
    expect(prompts.coming).toEqual({ prompts: 40, tokens: 40 * 64 });
    settle();
    expect([...encoded.keys()]).toEqual(tags.slice(0, 4));
    for (const [at, tag] of tags.entries()) {
      // Half of them end, and half are given up.
      const prompt = encoded.get(tag)!;
      if (at % 2) prompts.begun(prompt);
      prompts.release(prompt);
      settle();
      expect(library.living.size).toBeLessThanOrEqual(4);
    }
    expect(encoded.size).toBe(40);
    expect(prepared).toHaveLength(40);
    expect([prompts.busy, prompts.coming]).toEqual([false, { prompts: 0, tokens: 0 }]);
  });

  test("of one client do not keep the first of another from being encoded, up to twice the memory", () => {
    const { prompts, encoded, settle } = start(128);
    for (let at = 0; at < 4; at++) prompts.submit("", [], `a ${at}`, { client: "a" });
    settle();
    for (const tag of ["b 0", "b 1", "a 4", "c 0", "d 0"]) prompts.submit("", [], tag, { client: tag.charAt(0) });
    settle();
    expect([...encoded.keys()]).toEqual(["a 0", "a 1", "b 0", "c 0"]);
    for (const tag of ["b 0", "c 0"]) {
      prompts.begun(encoded.get(tag)!);
      settle();
    }
    expect([...encoded.keys()].slice(4)).toEqual(["d 0", "b 1"]);
  });

  test("leave the library once their computation begins, as far as others are concerned", () => {
    const { library, prompts, encoded, settle } = start(200);
    for (let at = 0; at < 5; at++) prompts.submit("", [], `${at}`);
    settle();
    expect(encoded.size).toBe(2);
    prompts.begun(encoded.get("0")!);
    settle();
    expect([encoded.size, library.living.size]).toEqual([3, 3]);
  });

  test("are encoded one by one if one alone takes more memory than there is for all", () => {
    const { prompts, encoded, settle } = start(1000);
    for (const tag of ["0", "1"]) prompts.submit("", [], tag);
    settle();
    expect([...encoded.keys()]).toEqual(["0"]);
    prompts.begun(encoded.get("0")!);
    settle();
    expect(encoded.size).toBe(2);
  });

  test("of batches keep no others from being encoded, and come after them", () => {
    const { prompts, encoded, settle } = start(128);
    for (let at = 0; at < 4; at++) prompts.submit("", [], `line ${at}`, { background: true });
    settle();
    expect(encoded.size).toBe(2);
    for (let at = 0; at < 3; at++) prompts.submit("", [], `urgent ${at}`);
    settle();
    expect([...encoded.keys()].slice(2)).toEqual(["urgent 0", "urgent 1"]);
    prompts.release(encoded.get("line 0")!);
    prompts.release(encoded.get("line 1")!);
    prompts.release(encoded.get("urgent 0")!);
    settle();
    expect([...encoded.keys()].slice(4)).toEqual(["urgent 2"]);
  });

  test("can be dropped, whatever the library has of them", () => {
    const { library, prompts, look } = start(200);
    for (let at = 0; at < 4; at++) prompts.submit("", [], `${at}`);
    look();
    look();
    prompts.submit("", [], "new");
    expect(prompts.drop(() => true)).toHaveLength(5);
    look();
    expect([prompts.busy, library.living.size]).toEqual([false, 0]);
  });

  test("are prepared in turn, so that their media wait as they came", () => {
    const { library, prompts, prepared, look } = start(1);
    const rgb = new Uint8Array(40 * 2 ** 20);
    for (let at = 0; at < 6; at++) prompts.submit("", [{ kind: "image", id: "a", width: 1, height: 1, rgb }], `${at}`);
    look();
    expect(library.living.size).toBe(2);
    for (let turn = 0; turn < 4; turn++) look();
    expect(prepared).toHaveLength(6);
  });
});
