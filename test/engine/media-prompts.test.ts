// Prompts with media whose requests were cancelled.

import { expect, test } from "bun:test";
import type { MediaJob, MediaState } from "../../ffi/media/api.ts";
import { MediaPrompts } from "../../src/engine/text/child/media-prompts.ts";

/** A media library that prepares jobs at once and has all embeddings cached. */
class CachedLibrary {
  readonly done: string[] = [];
  /** States of the jobs, in the order in which they are reported. */
  readonly ended: [MediaJob, MediaState][] = [];
  private jobs = 0;
  private current: MediaState = "prepared";

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
  const library = new CachedLibrary();
  const prompts = new MediaPrompts<string>(library);
  prompts.submit("", [], "counted");
  library.ended.push([1 as MediaJob, { error: "no memory", code: "failed" }]);
  const told: string[] = [];
  for (const { tag, state } of prompts.take()) {
    told.push(state);
    prompts.drop((other) => other === tag);
  }
  expect(told).toEqual(["prepared"]);
  expect(library.done).toEqual(["release 1"]);
});
