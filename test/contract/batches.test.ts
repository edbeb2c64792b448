// The answers of /v1/files and /v1/batches, byte for byte.

import { expect, test } from "bun:test";
import { expectGolden } from "../http/golden.ts";
import { hello, messages, serve } from "../http/harness.ts";

const id = { "x-request-id": "golden" };
const line = (custom_id: string, body: object) =>
  JSON.stringify({ custom_id, method: "POST", url: "/v1/chat/completions", body });

/** Replaces ids and times by their kind. */
const stable = (text: string) =>
  text
    .replace(/\b(file-|batch_req_|batch_)[0-9a-f]{24}\b/g, "$1ID")
    .replace(/\breq_[0-9a-f]{12}\b/g, "req_ID")
    .replace(/"(\w+_at)":\d+/g, '"$1":0');

async function run(lines: readonly string[], name: string): Promise<string> {
  const { url, post } = serve(hello);
  const upload = await fetch(`${url}/v1/files`, { method: "POST", body: lines.join("\n"), headers: id });
  const file = await upload.text();
  await expectGolden(`files-${name}.json`, stable(file));
  const asked = { input_file_id: JSON.parse(file).id, endpoint: "/v1/chat/completions", metadata: { job: "golden" } };
  const batch = JSON.parse(await (await post("/v1/batches", asked, id)).text());
  for (;;) {
    const text = await (await fetch(`${url}/v1/batches/${batch.id}`)).text();
    const { status, output_file_id } = JSON.parse(text);
    if (status !== "completed" && status !== "failed") {
      await Bun.sleep(5);
      continue;
    }
    await expectGolden(`batches-${name}.json`, stable(text));
    return output_file_id ? (await fetch(`${url}/v1/files/${output_file_id}/content`)).text() : "";
  }
}

test("a completed batch and its output match the recorded files", async () => {
  const output = await run([line("good", { messages }), line("refused", { messages: [] })], "completed");
  const lines = stable(output)
    .trimEnd()
    .split("\n")
    .sort((a, b) => (a.includes('"good"') ? -1 : b.includes('"good"') ? 1 : 0));
  await expectGolden("batches-completed-output.jsonl", `${lines.join("\n")}\n`);
});

test("a failed batch matches the recorded file", async () => {
  expect(await run([line("twice", { messages }), line("twice", { messages }), "{}"], "failed")).toBe("");
});

test("refusals match the recorded files", async () => {
  const { url, post } = serve(hello);
  const refused = await fetch(`${url}/v1/files`, { method: "POST", body: '{"a":1}\n{', headers: id });
  expect(refused.status).toBe(400);
  await expectGolden("files-refused.json", await refused.text());
  const unknown = await post("/v1/batches", { input_file_id: "file-x", endpoint: "/v1/chat/completions" }, id);
  expect(unknown.status).toBe(404);
  await expectGolden("batches-refused.json", await unknown.text());
  const window = { input_file_id: "file-x", endpoint: "/v1/chat/completions", completion_window: "1 day" };
  expect(await (await post("/v1/batches", window, id)).json()).toMatchObject({
    error: { message: "'completion_window' must be text such as 24h, 30m, 7d; got a string of length 5." },
  });
});
