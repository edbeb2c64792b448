// Answers of many formats, read token by token and read seldom because reading is slow: clients must not be able to tell,
// except by a few more tokens where the answer ends early.

import { describe, expect, test } from "bun:test";
import type { ChatPrompt } from "../../ffi/llama/api.ts";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { chat, library } from "./harness.ts";
import { ANSWER, THOUGHT, type Family } from "./templates/family.ts";
import { prompts } from "./templates/reading.ts";
import { add, answerOf, type Told } from "./templates/robustness.ts";
import { families, loadTemplate, missing } from "./templates/sources.ts";
import { TOOLS } from "./templates/tools.ts";

if (missing !== undefined) console.log(`skipped: ${missing}`);

/** One family of each way to write calls. */
export const distinct = families.filter(
  ({ calls, slow }, index) => calls && !slow && families.findLastIndex((family) => family.calls === calls) === index,
);

/** Sequences of the texts below, and some that never come. */
const STOPS = [[], ['rüezi! 1 < 2, "q', "Oslo", "\n\n\n\n", "never"]];
/** Tokens that are sampled until a text that may end the answer is read, as reading may take a quarter of the time. */
const WAITED_FOR = 4;
/** Bytes of a token. */
const TOKEN = /[^]{1,5}/g;

/** What a model may write: text, calls, both, and text behind reasoning. */
function textsOf({ calls, text = ["", ""], thought, start = "" }: Family): string[] {
  const said = `${text[0]}${ANSWER} ${ANSWER}${text[1]}`;
  const written = [said, calls?.single, calls?.parallel, `${said}${calls?.single}`].flatMap((one) => one ?? []);
  const behind = thought ? [`${thought[0]}${THOUGHT} ${THOUGHT}${thought[1]}${said}`] : [];
  return [...written.map((one) => start + one), ...behind];
}

/** All that is told of a text, and the tokens that were taken until the answer was complete. `slow`: reading is. */
function tellAll(llama: NativeLlama, request: ChatPrompt, text: string, stops: readonly string[], slow: boolean) {
  const tokens = Buffer.from(text).toString("latin1").match(TOKEN) ?? [];
  const [result] = prompts(llama, [request]).map((one) => {
    let [clock, reads, taken] = [0, 0, 0];
    const answer = answerOf(llama, request, one, {
      stops,
      now: () => {
        reads++;
        return slow ? (clock += 5) : 0;
      },
    });
    const told: Told = { reasoning: "", content: "", calls: [] };
    for (const token of tokens) {
      if (answer.complete) break;
      add(told, answer.push(Buffer.from(token, "latin1"), false));
      taken++;
    }
    add(told, answer.end(true));
    const { stopSequence } = answer;
    // Some formats do not say what ends reasoning.
    const ends = "format" in one ? one.format.thinkingEnds : [];
    const reasoningTokens = ends.some((end) => text.includes(end)) ? answer.reasoningTokens : undefined;
    // The clock is asked once for a token and once more for each reading.
    return { seen: { told, stopSequence, reasoningTokens }, taken, reads: reads - taken };
  });
  if (!result) throw new Error("no result for this prompt");
  return result;
}

/** Of each of these families. */
export function throttleTests(some: readonly Family[]): void {
  const llama = library();
  describe.skipIf(missing !== undefined)("an answer that is read seldom", () => {
    test.each(some.map((family) => [family.name, family] as const))("%s: is the same", async (_, family) => {
      await loadTemplate(llama, family.templates[0] ?? "");
      let [each, seldom] = [0, 0];
      for (const [at, parallelToolCalls] of [true, false].entries()) {
        const request = chat([{ role: "user", content: "Hi" }], {
          tools: TOOLS,
          parallelToolCalls,
          enableThinking: true,
        });
        const stops = STOPS[at] ?? [];
        for (const text of textsOf(family)) {
          const now = tellAll(llama, request, text, stops, false);
          const late = tellAll(llama, request, text, stops, true);
          expect({ text, stops, ...late.seen }).toEqual({ text, stops, ...now.seen });
          expect(late.taken).toBeWithin(now.taken, now.taken + WAITED_FOR + 1);
          each += now.reads;
          seldom += late.reads;
        }
      }
      expect(seldom).toBeLessThan(each);
      llama.unload();
    });
  });
}
