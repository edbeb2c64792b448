// Generates the page of the HTTP API from the OpenAPI document that the server serves.

import { tmpdir } from "node:os";
import { readConfig } from "../../src/config/read-config.ts";
import { createApp } from "../../src/http/app.ts";
import { NoEngine } from "../../src/engine/text/none.ts";
import { PrometheusMetrics } from "../../src/telemetry/prometheus.ts";
import { createLogger } from "../../src/telemetry/log.ts";
import type { AppServices } from "../../src/http/deps.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { fieldsOf, isObject, type Schema } from "./fields.ts";
import { page, table } from "./table.ts";

type Described = OpenApiDocument["paths"][string][string];

/** Parameters and statuses that every route has: the page describes them once. */
const COMMON_PARAMETERS = new Set(["X-Request-ID", "X-Svc-Client", "X-Svc-Deadline-Ms"]);
const COMMON_STATUSES = new Set(["401", "429"]);

/** Returns the OpenAPI document of a server with default options. Calls none of the described routes. */
export async function describedApi(): Promise<OpenApiDocument> {
  const clock = { now: () => 0, wall: () => 0, after: () => () => {} };
  const config = readConfig(new Map(), { HOME: tmpdir() }, tmpdir());
  const metrics = new PrometheusMetrics(clock);
  const engine = new NoEngine();
  const log = createLogger({ level: "error", format: "text", write: () => {}, now: () => 0 });
  const services = { config, clock, metrics, log, engine, engines: [], version: "" } as unknown as AppServices;
  const app = createApp(services);
  const response = await app.fetch(new Request("http://127.0.0.1/openapi.json"));
  return (await response.json()) as OpenApiDocument;
}

export async function apiPage(): Promise<string> {
  const document = await describedApi();
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => ({ route: `${method.toUpperCase()} ${path}`, described })),
  );
  const tags = (document["tags"] as readonly { name: string }[]).map(({ name }) => name);
  const groups = tags.map((tag) => ({
    tag,
    of: operations.filter((one) => (one.described["tags"] as string[])[0] === tag),
  }));
  const list = groups.flatMap(({ of, tag }) =>
    of.map(({ route, described }) => [`[\`${route}\`](#${anchor(route)})`, tag, String(described["summary"] ?? "")]),
  );
  const known = new Map<string, string>();
  const chapters = groups.map(({ tag, of }) => {
    const sections = of.map(({ route, described }) => operationText(route, described, known));
    return [`## ${tag}`, ...sections].join("\n\n");
  });
  const common = `Every route takes \`X-Request-ID\`. Routes that generate or embed take \`X-Svc-Client\` and \`X-Svc-Deadline-Ms\`:
[limits](../limits.md#deadlines), [fair queueing](../performance.md#scheduling-and-caching). Where the server has API keys, every route but
\`/\`, \`/docs\`, \`/openapi.json\` and \`/health\` is 401 without one, and routes that create something may be 429. All error codes:
[errors](errors.md). The running server has this document for programs at \`/openapi.json\` and as a page at \`/docs\`.`;
  const intro = `${document.info.description}\n\n${common}`;
  return page("HTTP API", intro, `## Routes\n\n${table(["route", "group", "what it does"], list)}`, ...chapters);
}

/** Returns the anchor that GitHub gives a route's heading. */
const anchor = (route: string) =>
  route
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** `known`: bodies of earlier routes by schema, so that a body that two routes share is listed once. */
function operationText(route: string, described: Described, known: Map<string, string>): string {
  const parts = [`### \`${route}\``];
  if (described["summary"]) parts.push(`${String(described["summary"])}.`);
  if (described["description"]) parts.push(String(described["description"]).trim());
  const parameters = (described.parameters ?? []).filter(({ name }) => !COMMON_PARAMETERS.has(name));
  if (parameters.length > 0) {
    const rows = parameters.map((one) => [`\`${one.name}\``, one.in, one.description ?? ""]);
    parts.push(table(["parameter", "in", "meaning"], rows));
  }
  for (const [type, { schema }] of Object.entries(described.requestBody?.content ?? {})) {
    parts.push(bodyText(`Body, \`${type}\``, schema, known, route));
  }
  for (const [type, { schema }] of Object.entries(described.responses["200"]?.content ?? {})) {
    if (isObject(schema as Schema))
      parts.push(bodyText(`Answer, \`${type}\``, schema, known, `the answer of ${route}`));
  }
  const answers = Object.entries(described.responses)
    .filter(([status]) => !COMMON_STATUSES.has(status))
    .map(([status, { description }]) => [status, description]);
  parts.push(table(["status", "meaning"], answers));
  return parts.join("\n\n");
}

function bodyText(title: string, schema: unknown, known: Map<string, string>, owner: string): string {
  const key = JSON.stringify(schema);
  const same = known.get(key);
  if (same !== undefined) return `**${title}**: the same as ${same.replace(/((?:GET|POST|DELETE) \S+)/, "`$1`")}.`;
  const { anyOf: forms = [schema as Schema] } = schema as Schema;
  const tables = forms.map((form) => fieldsOf(form, known)).filter((rows) => rows.length > 0);
  known.set(key, owner);
  if (tables.length === 0) return `**${title}**`;
  return `**${title}**\n\n${tables.map((rows) => table(["field", "type", "meaning"], rows)).join("\n\nor\n\n")}`;
}
