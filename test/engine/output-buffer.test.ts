import { expect, test } from "bun:test";
import type { OutputEvent } from "../../src/domain/generate.ts";
import { OutputBuffer } from "../../src/engine/text/child/output-buffer.ts";

const text = (words: string): OutputEvent => ({ type: "text", text: words });

test("the output of each request is merged with its token count, in the order of each request's first output", () => {
  const outbox = new OutputBuffer();
  outbox.hold(2, [text("a")]);
  outbox.hold(1, [text("x")]);
  outbox.hold(2, [text("b"), { type: "reasoning", text: "c" }]);
  expect(outbox.take()).toEqual([
    {
      key: 2,
      events: [
        { type: "text", text: "ab", sampled: 2 },
        { type: "reasoning", text: "c" },
      ],
    },
    { key: 1, events: [text("x")] },
  ]);
  expect(outbox.take()).toEqual([]);
});

test("the buffer is flushed when the next computation would hold it too long", () => {
  const outbox = new OutputBuffer();
  expect(outbox.begin(900, Infinity, 50)).toBe(false);
  outbox.hold(1, []);
  expect(outbox.begin(1000, Infinity, 50)).toBe(false);
  outbox.hold(1, [text("a")]);
  expect(outbox.begin(1015, 15, 50)).toBe(false);
  outbox.hold(1, [text("b")]);
  expect(outbox.begin(1030, 20, 50)).toBe(false);
  expect(outbox.begin(1030, 21, 50)).toBe(true);
  outbox.take();
  outbox.hold(1, [text("c")]);
  expect(outbox.begin(1060, 20, 50)).toBe(false);
});
