// Requests that schemathesis generates from svc's OpenAPI document: another program's opinion of what is valid.

import { join } from "node:path";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { pythonWith } from "../support/python.ts";
import type { Part } from "./described.ts";

const words = (line: string) => line.split(" ");
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_schema_conformance",
];

/**
 * 5xx codes are correct for a busy server, a passed deadline, features that are off, and a hub that has no models; 304 where
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

/** Returns what sends `count` requests for each operation as one of several parts. `folder`: for its files. */
export async function schemathesis(
  url: string,
  folder: string,
  { count, seed, workers }: { readonly count: number; readonly seed: number; readonly workers: number },
): Promise<Part> {
  const programs = await pythonWith(join(import.meta.dir, "requirements-schemathesis.txt"), "schemathesis");
  await Bun.write(join(folder, "schemathesis.toml"), SETTINGS);
  await Bun.write(join(folder, "openapi.json"), await description(url));
  return async (part) => {
    const phases = part === 0 ? "coverage,fuzzing" : "fuzzing";
    const options = words(
      `run openapi.json --url ${url} --seed ${seed + part} --workers ${workers} --phases ${phases}` +
        ` --checks ${CHECKS.join(",")} --max-examples ${count} --request-timeout 60` +
        " --suppress-health-check all --warnings off --continue-on-failure --generation-database none",
    );
    const child = Bun.spawn([join(programs, "st"), "--no-color", ...options], {
      cwd: folder,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    const [output, status] = await Promise.all([child.stdout.text(), child.exited]);
    const number = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0);
    const requests = number(/(\d+) generated/);
    if (status === 0) return { requests, complaints: 0 };
    console.error(output.slice(Math.max(0, output.search(/= (?:ERRORS|FAILURES) =/))));
    // Errors of the generating program itself, which could not create all requests of an operation.
    const [failures, broken] = [number(/found (\d+) unique failure/), number(/Runtime Error: (\d+)/)];
    // It may have failed as a whole.
    return { requests, complaints: failures + broken > 0 ? failures : 1, broken };
  };
}
