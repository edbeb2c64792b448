import { expect, test } from "bun:test";
import { ResponsesService } from "../../src/service/responses.ts";

const resource = (...ids: string[]) => ({ output: ids.map((id) => ({ id })) });

function service(count = 10) {
  const cancelled: string[] = [];
  const responses = new ResponsesService<ReturnType<typeof resource>, { data: string }>({ count, bytes: 10_000 });
  const begin = (id: string) =>
    responses.begin(
      id,
      { client: undefined, stop: () => void cancelled.push(id) },
      { resource: resource(), input: [] },
    );
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
  responses.end("resp_1", resource("msg_1"), []);
  begin("resp_2");
  const over = responses.cancel("resp_2");
  responses.end("resp_2", resource("msg_2"), []);
  await over;
  expect(cancelled).toEqual(["resp_1", "resp_2"]);
  expect([responses.get("resp_1"), responses.get("resp_2")?.resource]).toEqual([undefined, resource("msg_2")]);
});

test("the items of answers are found while their response is stored", () => {
  const { responses, begin } = service(2);
  const found = () => ["a", "b", "c", "d"].filter((id) => responses.item(id)?.id === id).join("");
  for (const [id, ...items] of [
    ["resp_1", "a", "b"],
    ["resp_2", "c"],
  ] as const) {
    begin(id);
    responses.end(id, resource(...items), []);
  }
  expect(found()).toBe("abc");
  begin("resp_3");
  responses.end("resp_3", resource("d"), []);
  expect(found()).toBe("cd");
  responses.delete("resp_2");
  expect(found()).toBe("d");
});
