import { expect, test } from "bun:test";
import type { GenerateEvent } from "../../src/domain/generate.ts";
import { noUsage } from "../../src/domain/usage.ts";
import { HeldAnswer } from "../../src/service/held-answer.ts";

test("an answer that restarts discards its earlier text, and other answers keep theirs", async () => {
  const held = new HeldAnswer();
  const said = (choice: number, text: string): GenerateEvent => ({ type: "text", choice, text });
  const finish = (choice: number): GenerateEvent => ({ type: "finish", choice, reason: "stop", usage: noUsage() });
  async function* events(): AsyncGenerator<GenerateEvent> {
    yield { type: "accepted", promptTokens: 3, downgraded: false };
    yield said(0, "No");
    yield said(1, "Yes");
    held.restarted(0);
    yield finish(1);
    yield said(0, "Hello");
    yield finish(0);
  }
  const whole = await Array.fromAsync(held.of(events()));
  expect(whole[0]?.type).toBe("accepted");
  expect(whole.slice(1)).toEqual([said(1, "Yes"), finish(1), said(0, "Hello"), finish(0)]);
});
