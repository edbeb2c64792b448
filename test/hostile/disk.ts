// A data folder whose disk is full, limited by --data-size, or not writable. Needs permission to mount a tmpfs.

import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBatch, getBatch, inputLine, lineFaults } from "../support/batch-kill.ts";
import { withServer, type TestServer } from "../support/server.ts";
import type { Row } from "./row.ts";

const LINES = 200;
const content = Array.from({ length: LINES }, (_, index) => `${JSON.stringify(inputLine(index))}\n`).join("");
const flags = (dataDir: string) => ["--data-dir", dataDir, "--ctx", "4096", "--parallel", "2", "--threads", "1"];
const DISK_MB = 4;
/** A batch that could not go on is retried after ten seconds. */
const PATIENCE_MS = 120_000;

const run = (...command: readonly string[]) => Bun.spawnSync([...command], { stderr: "ignore" }).success;

/** Runs `work` on a small separate disk; resolves with undefined when none can be mounted. */
async function onSmallDisk<T>(work: (folder: string) => Promise<T>): Promise<T | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "svc-disk-"));
  const mounted = run("mount", "-t", "tmpfs", "-o", `size=${DISK_MB}m,mode=700`, "tmpfs", folder);
  try {
    return mounted ? await work(folder) : undefined;
  } finally {
    if (mounted) run("umount", "--lazy", folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Fills the disk except for `leave` bytes; the returned function frees the space. */
function fill(folder: string, leave = 0): () => void {
  const path = join(folder, "filler");
  const piece = new Uint8Array(4096);
  const free = () => {
    const { bavail, bsize } = statfsSync(folder);
    return Number(bavail) * Number(bsize);
  };
  writeFileSync(path, "");
  while (free() > leave) writeFileSync(path, piece, { flag: "a" });
  return () => truncateSync(path, 0);
}

/** Returns status and code of an answer, such as `507 storage_full`. */
async function told(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error?: { code?: string } | null };
  return `${response.status}${error ? ` ${error.code}` : ""}`;
}

const post = async ({ url }: TestServer, path: string, body: object | string) =>
  told(
    await fetch(url + path, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: typeof body === "string" ? {} : { "content-type": "application/json" },
    }),
  );

/** Sends requests that need the disk, and others that do not. */
async function ask(server: TestServer, inputFile: string) {
  const upload = await post(server, "/v1/files", content);
  const batch = await post(server, "/v1/batches", { input_file_id: inputFile, endpoint: "/v1/chat/completions" });
  const messages = [{ role: "user", content: "Hello" }];
  const rest = [
    await post(server, "/v1/chat/completions", { messages, max_tokens: 4 }),
    await post(server, "/v1/responses", { input: "Hello", max_output_tokens: 16, store: true }),
    `${(await fetch(`${server.url}/health`)).status}`,
    `${(await fetch(`${server.url}/metrics`)).status}`,
  ];
  return { upload, batch, served: rest.every((status) => status === "200") };
}

/** Waits for the end of a batch and reports what is wrong with its output. */
async function finished(server: TestServer, id: string): Promise<string> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const batch = await getBatch(server, id);
    if (batch.status === "completed") {
      const output = await (await fetch(`${server.url}/v1/files/${batch.output_file_id}/content`)).text();
      const faults = lineFaults(output, LINES);
      return faults.length === 0 ? "complete" : `wrong: ${faults[0]}`;
    }
    if (performance.now() > deadline) return `still ${batch.status}`;
    await Bun.sleep(100);
  }
}

/** A promise that was not tested does not count as kept. */
const NOT_TRIED = { figure: "not tried: no tmpfs can be mounted", limit: "–", ok: false };
const STORAGE_FULL = "507 storage_full";

async function fullUnderBatch(): Promise<Row> {
  const said = await onSmallDisk(async (folder) => {
    let figure = "";
    let ok = false;
    await withServer(flags(folder), async (server) => {
      const { id, input_file_id } = await createBatch(server, content);
      while ((await getBatch(server, id)).request_counts.completed < 5) await Bun.sleep(20);
      // Leaves so many bytes that a line is cut off midway.
      const makeRoom = fill(folder, 4096);
      const heard = new Set<string>();
      while (!heard.has(STORAGE_FULL)) heard.add(await post(server, "/v1/files", content));
      heard.delete("200");
      await Bun.sleep(3000);
      const { upload, batch, served } = await ask(server, input_file_id);
      makeRoom();
      const end = await finished(server, id);
      figure = `uploads ${[...heard.add(upload)].join(", ")}, batch ${batch}, other requests ${served ? "served" : "not served"}; the batch afterwards ${end}`;
      ok = heard.size === 1 && upload === STORAGE_FULL && batch === upload && served && end === "complete";
    });
    return { figure, limit: "typed error, nothing lost", ok };
  });
  const attack = "the disk fills up during a batch, then has free space";
  return { promise: "A full disk is reported, without data loss", attack, ...(said ?? NOT_TRIED) };
}

async function fullFromTheStart(): Promise<Row> {
  const said = await onSmallDisk(async (folder) => {
    let figure = "";
    let ok = false;
    await withServer(flags(folder), async (server) => {
      const makeRoom = fill(folder);
      const { upload, served } = await ask(server, "file-none");
      makeRoom();
      const later = await post(server, "/v1/files", content);
      figure = `upload ${upload}, other requests ${served ? "served" : "not served"}; upload afterwards ${later}`;
      ok = upload === STORAGE_FULL && served && later === "200";
    });
    return { figure, limit: "typed error", ok };
  });
  return {
    promise: "A full disk is reported",
    attack: "the disk is full before anything is stored",
    ...(said ?? NOT_TRIED),
  };
}

async function readOnly(): Promise<Row> {
  const said = await onSmallDisk(async (folder) => {
    let id = "";
    let inputFile = "";
    await withServer(flags(folder), async (server) => {
      const batch = await createBatch(server, content);
      [id, inputFile] = [batch.id, batch.input_file_id];
      while ((await getBatch(server, id)).request_counts.completed < 5) await Bun.sleep(20);
    });
    if (!run("mount", "-o", "remount,ro", folder)) return undefined;
    let figure = "";
    let ok = false;
    await withServer(flags(folder), async (server) => {
      const { upload, batch, served } = await ask(server, inputFile);
      run("mount", "-o", "remount,rw", folder);
      const end = await finished(server, id);
      figure = `upload ${upload}, batch ${batch}, other requests ${served ? "served" : "not served"}; the batch afterwards ${end}`;
      ok = [upload, batch].every((one) => one === "503 storage_unavailable") && served && end === "complete";
    });
    return { figure, limit: "typed error, nothing lost", ok };
  });
  const attack = "the data folder is read-only, then writable";
  return { promise: "An unwritable data folder is reported", attack, ...(said ?? NOT_TRIED) };
}

async function bounded(): Promise<Row> {
  let figure = "";
  let ok = false;
  const folder = mkdtempSync(join(tmpdir(), "svc-disk-"));
  await withServer([...flags(folder), "--data-size", "1"], async (server) => {
    const answers: string[] = [];
    for (let count = 0; count < 100; count++) answers.push(await post(server, "/v1/files", content));
    const files = readdirSync(join(folder, "files"));
    const kib = files.reduce((sum, name) => sum + statSync(join(folder, "files", name)).size, 0) / 1024;
    const stored = answers.filter((answer) => answer === "200").length;
    const refused = answers.filter((answer) => answer === STORAGE_FULL).length;
    figure = `${Math.round(kib)} KiB in ${stored} files, ${refused} uploads refused`;
    ok = stored + refused === answers.length && refused > 0 && kib <= 1024;
  });
  rmSync(folder, { recursive: true, force: true });
  const attack = `100 uploads of ${Math.round(content.length / 1024)} KiB with --data-size 1`;
  return { promise: "Uploads do not fill the disk", attack, figure, limit: "1024 KiB", ok };
}

export const disk = async (): Promise<Row[]> => [
  await bounded(),
  await fullFromTheStart(),
  await fullUnderBatch(),
  await readOnly(),
];
