// Requests that schemathesis generates from svc's OpenAPI document, valid and invalid, for every route.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { operations } from "../../src/http/openapi/operations.ts";
import { describeFootprint, footprint, growth, type Footprint } from "../support/footprint.ts";
import { pythonWith } from "../support/python.ts";
import { startServer } from "../support/server.ts";
import type { Options, Row } from "./row.ts";

const words = (line: string) => line.split(" ");
const FLAGS = words(
  "--ctx 4096 --parallel 8 --max-queue 64 --max-tokens 16 --threads 1 --cache-ram 16 --no-media-fetch",
);
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_schema_conformance",
];

/**
 * 5xx codes are correct for a busy server, a passed deadline, features that are off, and an unreachable hub; 304 where
 * the client has the content.
 */
const SETTINGS = `
[checks.not_a_server_error]
expected-statuses = ["2xx", "4xx", "501", "503", "504"]
[[operations]]
include-path = "/api/pull"
checks.not_a_server_error.expected-statuses = ["2xx", "4xx", "502"]
[[operations]]
include-path = "/v1/files/{id}/content"
checks.not_a_server_error.expected-statuses = ["2xx", "304", "4xx", "503"]
`;

/** Returns the document without the schemas of streams, which describe an event rather than the whole text. */
async function description(url: string): Promise<string> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
  return JSON.stringify(document, (key, value: unknown) => (key === "text/event-stream" ? {} : value));
}

/** Runs `count` requests for each operation, in four parts, and measures the memory after each. */
export async function described({ count = 10_000, seed = 1, workers = 2 }: Options): Promise<Row[]> {
  const programs = await pythonWith(join(import.meta.dir, "requirements-schemathesis.txt"), "schemathesis");
  const folder = mkdtempSync(join(tmpdir(), "svc-described-"));
  // Nothing is downloaded, and no model of the user is removed.
  process.env["HF_ENDPOINT"] = "http://127.0.0.1:9";
  process.env["HF_HOME"] = folder;
  const server = await startServer(FLAGS);
  const levels: Footprint[] = [];
  let [requests, failed, broken] = [0, 0, 0];
  try {
    await Bun.write(join(folder, "schemathesis.toml"), SETTINGS);
    await Bun.write(join(folder, "openapi.json"), await description(server.url));
    for (const part of [0, 1, 2, 3]) {
      const phases = part === 0 ? "coverage,fuzzing" : "fuzzing";
      const options = words(
        `run openapi.json --url ${server.url} --seed ${seed + part} --workers ${workers} --phases ${phases}` +
          ` --checks ${CHECKS.join(",")} --max-examples ${Math.ceil(count / 4)} --request-timeout 60` +
          " --suppress-health-check all --warnings off --continue-on-failure --generation-database none",
      );
      const child = Bun.spawn([join(programs, "st"), "--no-color", ...options], {
        cwd: folder,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "inherit",
      });
      const [output, status] = await Promise.all([child.stdout.text(), child.exited]);
      if (status !== 0) {
        console.error(output.slice(Math.max(0, output.search(/= (?:ERRORS|FAILURES) =/))));
        failed += Number(/found (\d+) unique failure/.exec(output)?.[1] ?? 0);
        // Errors of the generating program itself, which could not create all requests of an operation.
        broken += Number(/Runtime Error: (\d+)/.exec(output)?.[1] ?? 0);
      }
      requests += Number(/(\d+) generated/.exec(output)?.[1] ?? 0);
      await server.untilIdle(60_000);
      levels.push(footprint(server.pid));
    }
    const { restarts } = (await server.health()).engine;
    const grown = growth(levels, { memory: 1.25 }) ?? [];
    const last = levels.at(-1);
    const figure = `${requests} requests to ${Object.keys(operations).length} operations: ${failed} complaints${broken > 0 ? ` (and ${broken} operations for which not all could be generated)` : ""}, ${restarts} restarts, ${last ? describeFootprint(last) : ""}${grown.map((one) => `; ${one}`).join("")}`;
    return [
      {
        promise: "Errors are typed and match the API description",
        attack: `${count} requests per operation, generated from the API description`,
        figure,
        limit: "no complaint, level memory",
        ok: failed === 0 && restarts === 0 && grown.length === 0 && requests > 0,
      },
    ];
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
