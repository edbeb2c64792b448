// What tests of LoRA adapters have in common: sets of them, a server with two, and who is answered beside whom.

import { expect, test } from "bun:test";
import { makeAdapter } from "../models/make-adapter.ts";
import { sharedFolder } from "../support/folders.ts";
import { askWithLogprobs, type Ask, type LogprobAnswer } from "../support/logprob-chat.ts";
import { compareAnswers } from "../support/same-answer.ts";
import type { ServerProcess } from "../support/server.ts";
import { sharedServer } from "../support/shared-server.ts";

export const STORY = "Tell me a story.";
export const LONG = "The dog is red and the boat is blue.".repeat(20);
export const A = [{ id: 0, scale: 1 }];
export const HALF_A = [{ id: 0, scale: 0.5 }];
export const B = [{ id: 1, scale: 1 }];
export const SETS = {
  base: {},
  A: { lora: A },
  "half of A": { lora: HALF_A },
  B: { lora: B },
  "A and B": { lora: [...A, ...B] },
};

export interface AdaptersRig {
  /** With the adapter "tone", and "style" behind it. */
  readonly flags: readonly string[];
  readonly server: ServerProcess;
}

/** A server with two adapters, from before the first test of a file until after its last. */
export function adaptersRig(): AdaptersRig {
  const folder = sharedFolder();
  const own = ["--threads", "1", "--ctx", "8192", "--lora", `tone=${makeAdapter(folder, 1)}`];
  const flags = [...own, "--lora", makeAdapter(folder, 2, "style")];
  const server = sharedServer(...flags, "--parallel", "6");
  return { flags, server };
}

/** Where cells are laid out like this, and few. */
export function sideBySideTests(rig: AdaptersRig, mode: string): void {
  // So little room that what is not used moves to host memory, or has to be computed again.
  const tight = [...rig.flags, "--parallel", "4", "--kv-mode", mode];
  const shared = sharedServer(...tight.with(3, "2048"), "--cache-ram", "64");

  test("everyone gets the answer that they get alone, again and again", async () => {
    const questions = [STORY, `${LONG} ${STORY}`];
    const asked = questions.flatMap((content) =>
      Object.values(SETS).map((fields): Ask => ({ ...fields, messages: [{ role: "user", content }], maxTokens: 24 })),
    );
    const alone: LogprobAnswer[] = [];
    for (const one of asked) alone.push(await askWithLogprobs(rig.server.url, one, { kind: "whole" }));
    let same = 0;
    for (const kind of ["whole", "stream"] as const) {
      const together = await Promise.all(asked.map((one) => askWithLogprobs(shared.url, one, { kind })));
      for (const [at, answer] of together.entries()) {
        const { likeness, margin = 0 } = compareAnswers(answer, alone[at] ?? answer);
        if (likeness === "same") same++;
        // In a story, a batch of another shape alone moves what the model is not sure of by so much.
        else expect(margin).toBeLessThan(0.2);
      }
    }
    expect(same).toBeGreaterThan(asked.length);
  });
}
