import { expect, test } from "bun:test";
import type { ChatMessage } from "../../src/domain/generate.ts";
import { withInstruction } from "../../src/domain/instruction.ts";

test("a system message with images, as in Ollama's API, keeps them beside the instruction", () => {
  const source = { kind: "image", url: "data:image/png;base64,AA==", detail: "auto" } as const;
  const image = { type: "media", source, param: "messages.0.images.0" } as const;
  const system: ChatMessage = { role: "system", content: [{ type: "text", text: "Sort them." }, image] };
  const [told] = withInstruction([system, { role: "user", content: "hi" }], { type: "object" }, "auto");
  const instruction = { type: "text", text: expect.stringContaining('{"type":"object"}') };
  expect(told as object).toEqual({
    role: "system",
    content: [{ type: "text", text: "Sort them." }, image, instruction],
  });
});
