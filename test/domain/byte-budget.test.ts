import { expect, test } from "bun:test";
import { ByteBudget, FREE_BYTES } from "../../src/domain/byte-budget.ts";

test("an account that is refused leaves its bytes to others at once", () => {
  const budget = new ByteBudget(3 * FREE_BYTES, "files");
  const [first, second] = [budget.open(), budget.open()];
  first.hold(2 * FREE_BYTES);
  second.hold(3 * FREE_BYTES);
  expect(() => second.hold(4 * FREE_BYTES)).toThrow("files may use at most 3 MiB together");
  first.hold(4 * FREE_BYTES);
  expect(() => second.hold(2 * FREE_BYTES)).toThrow();
  second.close();
  first.close();
  second.hold(4 * FREE_BYTES);
});
