// `svc upstreams`: shows the state of the upstreams of the server at --host and --port, and drains or resumes them.

import type { Upstream } from "../contract/upstreams.ts";
import type { FlagsOf } from "./commands.ts";
import { ExitError } from "./exit-codes.ts";
import { askServer, checkScheme, errorIn, fetchList, serverUrl, type Where } from "./running-server.ts";
import { textTable } from "./text-table.ts";
import { writeOut } from "./write-out.ts";

/** Drains or resumes an upstream as flags say; prints a line per replica, or the listing as JSON. Throws ExitError. */
export async function listUpstreams(config: Where, flags: FlagsOf<"upstreams">): Promise<void> {
  const { drain, resume, replica, json: asJson } = flags;
  if (replica !== undefined && drain === undefined && resume === undefined) {
    throw new ExitError("usage", "--replica is for --drain and --resume.");
  }
  for (const [name, verb] of [
    [drain, "drain"],
    [resume, "resume"],
  ] as const) {
    if (name !== undefined) await steer(config, `/upstreams/${encodeURIComponent(name)}/${verb}`, { replica });
  }
  const listing = await fetchList<Upstream>(config, "/upstreams");
  await writeOut(asJson ? `${JSON.stringify(listing, undefined, 2)}\n` : upstreamTable(listing.data));
}

async function steer(config: Where, path: string, body: object): Promise<void> {
  const response = await askServer(config, path, body).catch(() => undefined);
  if (response?.ok) return;
  const message = response && (await errorIn(response));
  if (message === undefined) await checkScheme(config);
  throw new ExitError("failure", message ?? `No svc answers at ${serverUrl(config)}.`);
}

/** Formats the replicas as aligned columns with a header. */
function upstreamTable(upstreams: readonly Upstream[]): string {
  if (upstreams.length === 0)
    return "No upstreams. Add one with --upstream, or find those on this machine with --gateway.\n";
  const rows = upstreams.flatMap(({ name, replicas }) =>
    replicas.map((replica) => [
      name,
      replica.url,
      replica.kind,
      replica.state,
      String(replica.running),
      String(replica.requests),
      String(Object.values(replica.failures).reduce((sum, count) => sum + count, 0)),
      replica.prompt_tokens > 0 ? `${Math.round((100 * replica.cached_tokens) / replica.prompt_tokens)} %` : "",
      replica.first_token_ms ? `${replica.first_token_ms.median} ms` : "",
      replica.last_error ?? "",
    ]),
  );
  const head = ["NAME", "REPLICA", "KIND", "STATE", "RUNNING", "REQUESTS", "FAILED", "CACHED", "FIRST TOKEN", "WHY"];
  return textTable(head, rows);
}
