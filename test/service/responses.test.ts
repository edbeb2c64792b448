import { expect, test } from "bun:test";
import { ResponsesService } from "../../src/service/responses.ts";

function service() {
  const cancelled: string[] = [];
  const responses = new ResponsesService<string, { data: string }>({ count: 10, bytes: 10_000 });
  const begin = (id: string) => responses.begin(id, () => void cancelled.push(id), { resource: "begun", input: [] });
  return { responses, begin, cancelled };
}

test("nothing is left of a generation that was refused, and nothing is ended for it", () => {
  const { responses, begin, cancelled } = service();
  begin("resp_1");
  responses.forget("resp_1");
  expect([responses.runningCount, responses.get("resp_1"), cancelled]).toEqual([0, undefined, []]);
});

test("deleting ends what runs, which does not come back; cancelling waits for the end", async () => {
  const { responses, begin, cancelled } = service();
  begin("resp_1");
  expect(responses.delete("resp_1")).toBe(true);
  responses.end("resp_1", "ended", []);
  begin("resp_2");
  const over = responses.cancel("resp_2");
  responses.end("resp_2", "ended", []);
  await over;
  expect(cancelled).toEqual(["resp_1", "resp_2"]);
  expect([responses.runningCount, responses.get("resp_1"), responses.get("resp_2")?.resource]).toEqual([
    0,
    undefined,
    "ended",
  ]);
});
