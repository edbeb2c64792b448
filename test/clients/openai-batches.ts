// The TypeScript SDK: files and batches, from upload to deletion.

import { check, equal, ok, same } from "./checks.ts";
import { CAPITAL, CAPITAL_ANSWER } from "./prompts.ts";
import { failure, type Sdk } from "./sdk.ts";

const ENDED = ["completed", "failed", "expired", "cancelled"];
const PATIENCE_MS = 60_000;

const lineOf = (index: number, body: object) =>
  JSON.stringify({ custom_id: `line-${index}`, method: "POST", url: "/v1/chat/completions", body });

const capital = { model: "svc-mini", temperature: 0, messages: [{ role: "user", content: CAPITAL }] };

export async function batchChecks({ client, OpenAI, version }: Sdk): Promise<void> {
  const { toFile } = OpenAI;
  const endpoint = "/v1/chat/completions" as const;
  const remove = (id: string): PromiseLike<unknown> =>
    "delete" in client.files
      ? client.files.delete(id)
      : (client.files as unknown as { del(id: string): Promise<unknown> }).del(id);

  const upload = async (lines: readonly string[], name = `checks-${version}.jsonl`) =>
    client.files.create({ file: await toFile(Buffer.from(lines.join("\n")), name), purpose: "batch" });

  const create = async (lines: readonly string[], metadata = {}) => {
    const { id } = await upload(lines);
    return client.batches.create({ input_file_id: id, endpoint, completion_window: "24h", metadata });
  };

  const ended = async (id: string) => {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const batch = await client.batches.retrieve(id);
      if (ENDED.includes(batch.status)) return batch;
      ok(Date.now() < deadline, `still ${batch.status}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  await check("files: create, retrieve, content, list with paging, delete", async () => {
    const lines = [lineOf(1, capital), lineOf(2, capital)];
    const files = [];
    for (let count = 0; count < 5; count++) files.push(await upload(lines, `page-${count}.jsonl`));
    const [first] = files;
    ok(first, "no file");
    equal(first?.filename, "page-0.jsonl");
    equal((await client.files.retrieve(first?.id ?? "")).bytes, Buffer.byteLength(lines.join("\n")));
    equal(await (await client.files.content(first?.id ?? "")).text(), lines.join("\n"));
    const own = new Set(files.map(({ id }) => id));
    const listed = await Array.fromAsync(client.files.list({ limit: 2, order: "asc", purpose: "batch" }));
    same(
      listed.filter(({ id }) => own.has(id)).map(({ id }) => id),
      [...own],
    );
    for (const { id } of files) await remove(id);
    await failure(() => client.files.retrieve(first?.id ?? ""), OpenAI.NotFoundError);
  });

  await check("batches: create, retrieve until completed, output by custom_id", async () => {
    const made = await create([lineOf(1, capital), lineOf(2, { messages: [] }), lineOf(3, capital)], { a: "b" });
    same(made.metadata, { a: "b" });
    const batch = await ended(made.id);
    equal(batch.status, "completed");
    same(batch.request_counts, { total: 3, completed: 2, failed: 1 });
    const text = await (await client.files.content(batch.output_file_id ?? "")).text();
    const lines = new Map(
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
        .map((line) => [line.custom_id, line]),
    );
    equal(lines.size, 3);
    for (const id of ["line-1", "line-3"]) {
      equal(lines.get(id).response.body.choices[0].message.content, CAPITAL_ANSWER);
    }
    equal(lines.get("line-2").response.status_code, 400);
  });

  await check("batches: list pages through all by itself", async () => {
    const made = [];
    for (let count = 0; count < 5; count++) made.push((await create([lineOf(1, capital)])).id);
    const listed = (await Array.fromAsync(client.batches.list({ limit: 2 }))).map(({ id }) => id);
    same(listed.slice(0, 5), made.toReversed());
  });

  await check("batches: cancel, and what cannot be cancelled any more", async () => {
    const story = { ...capital, messages: [{ role: "user", content: "Tell me a story." }], ignore_eos: true };
    const { id } = await create(
      Array.from({ length: 200 }, (_, index) => lineOf(index, { ...story, max_tokens: 400 })),
    );
    ok(["cancelling", "cancelled"].includes((await client.batches.cancel(id)).status), "not cancelled");
    const batch = await ended(id);
    equal(batch.status, "cancelled");
    equal(batch.request_counts?.total, 200);
    await failure(() => client.batches.cancel(id), OpenAI.BadRequestError);
    await failure(() => client.batches.retrieve("batch_none"), OpenAI.NotFoundError);
  });

  await check("batches: lines that are none make it fail, and are named", async () => {
    const batch = await ended((await create([lineOf(1, capital), lineOf(1, capital), "{}"])).id);
    equal(batch.status, "failed");
    same(
      batch.errors?.data?.map(({ line }) => line),
      [2, 3],
    );
    const error = await failure(() => upload(["{}", "{"]), OpenAI.BadRequestError);
    ok(error.message.includes("Line 2"), error.message);
  });
}
