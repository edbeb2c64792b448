import { expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { decodeKwargs } from "../../src/dialect/fields/reasoning.ts";

test("a name with half a surrogate pair is refused, without repeating it", () => {
  const names = ["\ud800", "secret \udc00"];
  for (const name of names) {
    let error: unknown;
    try {
      decodeKwargs({ fine: 1, [name]: 1 });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(SvcError);
    expect(error).toMatchObject({ code: "invalid_value", details: { param: "chat_template_kwargs" } });
    expect(String(error)).toContain("got 1 with half a surrogate pair");
    expect(String(error)).not.toContain("secret");
  }
});

test.each(["messages", "tools", "add_generation_prompt"])("%s cannot be set by template values", (name) => {
  const param = `chat_template_kwargs.${name}`;
  const refused = expect.objectContaining({ code: "invalid_value", details: expect.objectContaining({ param }) });
  expect(() => decodeKwargs({ [name]: [] })).toThrow(refused);
});

test("whole surrogate pairs are accepted in names, and halves in values", () => {
  const kwargs = { "\u{1F600}": 1, value: "\ud800" };
  expect(decodeKwargs(kwargs)).toEqual({ kwargs });
});
