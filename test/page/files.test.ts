import { expect, test } from "bun:test";
import { acceptedBy, kindOf } from "../../src/page/logic/files.ts";
import type { Model } from "../../src/page/logic/models.ts";

const model = (use: Model["use"], ...capabilities: string[]): Model => {
  return { id: "m", use, capabilities: new Set(capabilities), loaded: true, reports: true, about: "" };
};
const file = (name: string, type: string, size = 1) => ({ name, type, size });

test("PDF documents are for models that see, not for those that only edit images", () => {
  const editor = model("image", "images", "image_edits");
  const seeing = model("chat", "chat", "vision");
  expect(acceptedBy(editor)).toBe("image/*");
  expect(() => kindOf(file("a.pdf", "application/pdf"), editor)).toThrow("m takes no documents.");
  expect(acceptedBy(seeing)).toContain("application/pdf");
  expect(kindOf(file("a.pdf", "application/pdf"), seeing)).toBe("image");
});
