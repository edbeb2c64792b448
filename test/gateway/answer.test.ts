// What an upstream's answer may contain.

import { expect, test } from "bun:test";
import { RemoteAnswer } from "../../src/gateway/answer.ts";

test("call arguments can be as long as those of an agent that writes a large file, even one token at a time", () => {
  const answer = new RemoteAnswer({
    splitThinking: false,
    beginning: "",
    parallelToolCalls: true,
    stop: [],
    counts: false,
  });
  answer.add({ calls: [{ index: 0, id: "a", name: "write", arguments: '{"text":"' }] });
  const goOn = { calls: [{ index: 0, arguments: "word" }] };
  for (let token = 0; token < 200_000; token++) answer.add(goOn);
  answer.add({ calls: [{ index: 0, arguments: '"}' }], reason: "tool_calls" });
  expect(answer.isFinished).toBe(true);
});
