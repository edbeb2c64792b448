// Requests generated from svc's OpenAPI document, valid and invalid, for every route: by this repository's generator,
// and fewer by schemathesis.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkOf } from "../fuzz/described/answer.ts";
import { operationsOf, type Document } from "../fuzz/described/operation.ts";
import { fuzzDescribed, report } from "../fuzz/described/run.ts";
import { Supply } from "../fuzz/described/supply.ts";
import { makeAdapter } from "../models/make-adapter.ts";
import { makeEncoder } from "../models/make-encoder.ts";
import { upscalerBytes } from "../models/make-upscaler.ts";
import { MODELS } from "../parity/servers.ts";
import { describeFootprint, footprint, growth, type Footprint } from "../support/footprint.ts";
import { startServer } from "../support/server.ts";
import type { Options, Row } from "./row.ts";
import { schemathesis } from "./schemathesis.ts";

/** Little is computed for a request, so that thousands can be answered. */
const FLAGS =
  "--ctx 1024 --parallel 8 --max-queue 64 --max-tokens 16 --threads 1 --cache-ram 16 --no-media-fetch --quiet" +
  // Of a server that does not answer.
  " --upstream spare=http://127.0.0.1:9";
const PARTS = [0, 1, 2, 3] as const;
/** Smallest share of requests that must succeed; nearly half do. */
const LEAST_SERVED = 0.25;
/** schemathesis takes 20 times as long for a request. */
const SHARE = 50;
const FEWEST = 20;

export interface Tally {
  readonly requests: number;
  readonly complaints: number;
  /** Operations for which not all requests could be generated. */
  readonly broken?: number;
}
/** Sends this part of the requests. */
export type Part = (part: number) => Promise<Tally>;

/** Sends requests in four parts to a new server that offers everything, and measures the memory after each. */
async function measured(attack: string, begin: (url: string, folder: string) => Promise<Part>): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "svc-described-"));
  // Nothing is downloaded, and no model of the user is removed. A hub that cannot be reached would be tried for long.
  const hub = Bun.serve({ port: 0, fetch: () => new Response("", { status: 404 }) });
  process.env["HF_ENDPOINT"] = `http://127.0.0.1:${hub.port}`;
  process.env["HF_HOME"] = folder;
  const slots = join(folder, "slots");
  mkdirSync(slots, { mode: 0o700 });
  const upscaler = join(folder, "upscaler.safetensors");
  writeFileSync(upscaler, upscalerBytes());
  const files = {
    "--rerank-model": makeEncoder("rank", MODELS),
    "--image-upscale-model": upscaler,
    "--lora": `tone=${makeAdapter(MODELS, 1)}`,
    "--slot-save-path": slots,
  };
  const server = await startServer([...FLAGS.split(" "), ...Object.entries(files).flat()]);
  const levels: Footprint[] = [];
  const total = { requests: 0, complaints: 0, broken: 0 };
  try {
    const send = await begin(server.url, folder);
    for (const part of PARTS) {
      const began = performance.now();
      const { requests, complaints, broken = 0 } = await send(part);
      const perSecond = Math.round((requests * 1000) / (performance.now() - began));
      total.requests += requests;
      total.complaints += complaints;
      total.broken += broken;
      await server.untilIdle(60_000);
      const level = footprint(server.pid);
      levels.push(level);
      console.error(`part ${part + 1}: ${requests} requests, ${perSecond} a second, ${describeFootprint(level)}`);
    }
    const { restarts } = (await server.health()).engine;
    const grown = growth(levels, { memory: 1.25 }) ?? [];
    const figures = [
      `${total.requests} requests: ${total.complaints} complaints`,
      ...(total.broken > 0 ? [`${total.broken} operations for which not all could be generated`] : []),
      `${restarts} restarts`,
      ...levels.slice(-1).map(describeFootprint),
    ];
    return {
      promise: "Errors are typed and match the API description",
      attack,
      figure: [figures.join(", "), ...grown].join("; "),
      limit: "no complaint, level memory",
      ok: total.complaints === 0 && restarts === 0 && grown.length === 0 && total.requests > 0,
    };
  } finally {
    await server.kill();
    await hub.stop(true);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns what sends `count` requests for each operation as one of the parts. */
async function generated(url: string, count: number, seed: number): Promise<Part> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  const operations = operationsOf(document);
  const server = { url, operations, check: checkOf(document), supply: await Supply.of(url) };
  return async (part) => {
    const outcome = await fuzzDescribed(server, { seed, first: part * count, count });
    console.error(report(outcome));
    const { statuses, failures } = outcome;
    const requests = [...statuses.values()].reduce((sum, number) => sum + number, 0);
    // A server that refuses everything would not be attacked at all.
    const isServed = (statuses.get(200) ?? 0) > LEAST_SERVED * requests;
    return { requests, complaints: failures.size + Number(!isServed) };
  };
}

export async function described(options: Options): Promise<Row[]> {
  const { attack: part = "", count = 10_000, seed = 1, workers = 2 } = options;
  const inPart = (all: number) => Math.ceil(all / PARTS.length);
  const fewer = Math.max(Math.ceil(count / SHARE), FEWEST);
  const attacks: Readonly<Record<string, (url: string, folder: string) => Promise<Part>>> = {
    [`${count} requests per operation, generated from the API description`]: (url) =>
      generated(url, inPart(count), seed),
    [`${fewer} requests per operation, generated by schemathesis`]: (url, folder) =>
      schemathesis(url, folder, { count: inPart(fewer), seed, workers }),
  };
  const rows: Row[] = [];
  for (const [name, begin] of Object.entries(attacks)) if (name.includes(part)) rows.push(await measured(name, begin));
  return rows;
}
