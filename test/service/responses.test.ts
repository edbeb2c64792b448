import { expect, test } from "bun:test";
import { ResponsesService } from "../../src/service/responses.ts";

function service() {
  const cancelled: string[] = [];
  const responses = new ResponsesService<string, { data: string }>({ count: 10, bytes: 10_000 });
  const begin = (id: string) =>
    responses.begin(id, { client: undefined, stop: () => void cancelled.push(id) }, { resource: "begun", input: [] });
  return { responses, begin, cancelled };
}

test("a refused generation leaves no response behind and cancels nothing", () => {
  const { responses, begin, cancelled } = service();
  begin("resp_1");
  responses.forget("resp_1");
  expect([responses.get("resp_1"), cancelled]).toEqual([undefined, []]);
});

test("deleting a running response cancels it for good; cancelling waits until it has ended", async () => {
  const { responses, begin, cancelled } = service();
  begin("resp_1");
  expect(responses.delete("resp_1")).toBe(true);
  responses.end("resp_1", "ended", []);
  begin("resp_2");
  const over = responses.cancel("resp_2");
  responses.end("resp_2", "ended", []);
  await over;
  expect(cancelled).toEqual(["resp_1", "resp_2"]);
  expect([responses.get("resp_1"), responses.get("resp_2")?.resource]).toEqual([undefined, "ended"]);
});
