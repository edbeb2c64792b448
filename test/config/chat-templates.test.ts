import { expect, test } from "bun:test";
import { join } from "node:path";
import { readConfig } from "../../src/config/read-config.ts";
import { temporaryFolder } from "../support/folders.ts";

const read = (value: string, cwd = "/") =>
  readConfig(new Map([["chat-template", value]]), { XDG_CONFIG_HOME: "/nonexistent" }, cwd).chatTemplate;

test("a chat template is a name, the text itself, or a file, which has priority over a name", async () => {
  const folder = temporaryFolder();
  await Bun.write(join(folder, "own.jinja"), "own");
  await Bun.write(join(folder, "chatml"), "file");
  expect(read("own.jinja", folder)).toBe("own");
  expect(read("chatml", folder)).toBe("file");
  expect(read("chatml")).toContain("<|im_start|>");
  expect(read("{{ messages[0].content }}")).toBe("{{ messages[0].content }}");
  expect(() => read("chatmll")).toThrow("nor one of svc's templates: chatml, llama2");
  // A name in llama.cpp that svc does not have.
  expect(() => read("mistral-v7")).toThrow(/mistral-v7 is neither a file.* name a Jinja file/);
  expect(() => read("./missing.jinja")).toThrow("cannot be read: there is no such file or folder");
});
