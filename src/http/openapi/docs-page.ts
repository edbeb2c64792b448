// The API description as one HTML page that works without a network: everything is in it. The interactive reference is a
// script from a content delivery network, so it is loaded only when somebody asks for it.

import type { OpenApiDocument } from "./document.ts";

const REFERENCE = "https://cdn.jsdelivr.net/npm/@scalar/api-reference@1.25.0/dist/browser/standalone.min.js";

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #2563eb; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1.5rem; }
h1 { margin: 0; } h2 { margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .75rem; overflow: auto; border-radius: 6px; }
article { border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem; margin: 1rem 0; }
article h3 { margin: 0; font: 600 15px ui-monospace, monospace; }
.method { color: var(--accent); } .soft { opacity: .7; }
td:first-child { min-width: 3rem; width: 1%; } table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; }
nav a { display: inline-block; margin-right: 1rem; } button { font: inherit; }`;

/** Renders the description for a reader at `origin` (`http://127.0.0.1:9999`), which the example commands use. */
export function docsPage(document: OpenApiDocument, origin: string): string {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const tags = [...new Set(operations.map(({ operation }) => String(operation["tags"] ?? "Other")))];
  const sections = tags.map((tag) => {
    const own = operations.filter(({ operation }) => String(operation["tags"] ?? "Other") === tag);
    return `<h2>${escape(tag)}</h2>${own.map((operation) => article(operation, origin)).join("")}`;
  });
  const links = operations.map(
    ({ method, path }) => `<a href="#${anchor(method, path)}"><code>${method} ${escape(path)}</code></a>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc API</title><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body><main>
<h1>svc API <small class="soft">${escape(document.info.version)}</small></h1>
${prose(document.info.description)}
<p><a href="/openapi.json">openapi.json</a> · <button id="interactive">Interactive reference</button>
<span class="soft">(loads a script from cdn.jsdelivr.net)</span></p>
<nav>${links.join(" ")}</nav>
${sections.join("\n")}
</main>
<script>
document.getElementById("interactive").onclick = () => {
  const reference = document.createElement("script");
  reference.id = "api-reference";
  reference.dataset.url = "/openapi.json";
  const loader = document.createElement("script");
  loader.src = ${JSON.stringify(REFERENCE)};
  loader.onerror = () => { document.getElementById("interactive").textContent = "Not reachable"; };
  loader.onload = () => document.querySelector("main").remove();
  document.body.append(reference, loader);
};
</script></body></html>
`;
}

type Described = OpenApiDocument["paths"][string][string];

function article(
  { method, path, operation }: { method: string; path: string; operation: Described },
  origin: string,
): string {
  const body = operation.requestBody?.content["application/json"];
  const example = body?.example;
  const curl =
    example === undefined
      ? ""
      : `<pre>curl ${escape(origin + path)} -H 'Content-Type: application/json' -d '${escape(JSON.stringify(example))}'</pre>`;
  const { "text/event-stream": events, "application/x-ndjson": lines } = operation.responses["200"]?.content ?? {};
  const stream = (events ?? lines)?.schema;
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => `<tr><td><code>${status}</code></td><td>${inline(response.description)}</td></tr>`,
  );
  return `<article id="${anchor(method, path)}">
<h3><span class="method">${method}</span> ${escape(path)}</h3>
<p><strong>${inline(String(operation["summary"] ?? ""))}</strong></p>
${prose(String(operation["description"] ?? ""))}
${fields(body?.schema)}${curl}
<table>${responses.join("")}</table>${prose(String(stream?.["description"] ?? ""))}</article>`;
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

function fields(schema: unknown): string {
  const { properties = {}, required = [] } = (schema ?? {}) as Schema;
  const rows = Object.entries(properties).map(
    ([name, field]) =>
      `<tr><td><code>${escape(name)}</code>${required.includes(name) ? " *" : ""}</td><td class="soft">${escape(typeName(field))}</td><td>${inline(describe(field))}</td></tr>`,
  );
  return rows.length > 0 ? `<details><summary>Request fields</summary><table>${rows.join("")}</table></details>` : "";
}

function typeName(schema: Schema): string {
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeName))].filter((name) => name !== "null").join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  return schema.type === "array" && schema.items ? `array of ${typeName(schema.items)}` : (schema.type ?? "any");
}

function describe(schema: Schema): string {
  const own = schema.anyOf?.find((one) => one.type !== "null") ?? schema;
  const limits = own.minimum !== undefined && own.maximum !== undefined ? `${own.minimum} to ${own.maximum}. ` : "";
  return limits + (schema.description ?? own.description ?? "");
}

const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
/** The little Markdown that our descriptions use. */
const inline = (text: string) =>
  escape(text)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
const prose = (text: string) => (text === "" ? "" : `<p>${inline(text).replaceAll("\n\n", "</p><p>")}</p>`);
const anchor = (method: string, path: string) => `${method}-${path}`.replace(/[^a-z0-9]+/gi, "-");
