// Every request field in the documentation of other local servers, for routes that svc has too, and svc's handling of
// it. PEERS.md is made from this table, and each row is tested: a refused field is a 400, an honoured one is not.

import { paddedTable } from "../support/markdown.ts";
import { llamaRoutes } from "./llama-fields.ts";
import { lmStudioRoutes } from "./lm-studio-fields.ts";
import { ollamaRoutes } from "./ollama-fields.ts";
import type { PeerField, PeerRoute, Verdict } from "./peer-field.ts";
import { sglangRoutes } from "./sglang-fields.ts";
import { vllmRoutes } from "./vllm-fields.ts";

export const peerRoutes: readonly PeerRoute[] = [
  ...llamaRoutes,
  ...vllmRoutes,
  ...sglangRoutes,
  ...ollamaRoutes,
  ...lmStudioRoutes,
];

/** Returns the body with the field, which may be inside an object, and the other fields that it needs. */
export function withField(body: PeerRoute["body"], { field, value, beside }: PeerField): PeerRoute["body"] {
  const [outer = "", inner] = field.split(".");
  return { ...body, ...beside, [outer]: inner === undefined ? value : { [inner]: value } };
}

const WORDS: Readonly<Record<Verdict, string>> = { honoured: "honoured", refused: "refused", none: "not applicable" };

/** Returns the whole of PEERS.md. */
export function peersReport(): string {
  const all = peerRoutes.flatMap(({ fields }) => fields);
  const counted = (Object.keys(WORDS) as Verdict[])
    .map((verdict) => `${all.filter((one) => one.verdict === verdict).length} ${WORDS[verdict]}`)
    .join(", ");
  return `# Request fields of other local servers

Every request field that the documents of llama-server 0.5.0, vLLM, SGLang, Ollama and LM Studio describe, on the routes that svc has
too: ${counted}. No field is dropped in silence: what is refused is a 400 \`unsupported_parameter\` that
names it, where its value would have an effect; what is honoured changes the answer, or what the engine is asked, unless the value
is the default. Not applicable: there is nothing here that it could change, and the last column
says why. Made by \`UPDATE=1 bun test test/contract/peers.test.ts\` from \`test/parity/peers.ts\`; the same test sends each
field to svc. Not here are Ollama's /api/pull and /api/delete, of whose fields \`insecure\` alone has no effect: which hub is
asked, and how, is the server's own.

${peerRoutes.map(section).join("\n\n")}
`;
}

function section({ peer, route, path, fields }: PeerRoute): string {
  const here = route.endsWith(` ${path}`) ? "" : `, here ${path}`;
  const lines = fields.map(({ field, verdict, value, usual, note = usual ? "the default" : "" }) => {
    const shown = JSON.stringify(value).replaceAll("|", "\\|");
    return [`\`${field}\``, `\`${shown}\``, WORDS[verdict], note];
  });
  return `## ${peer}: ${route}${here}\n\n${paddedTable(["field", "as in", "svc", ""], lines).join("\n")}`;
}
