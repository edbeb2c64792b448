// Who may call from a browser, as options name them.

import { isAddress } from "./host-name.ts";
import { UsageError } from "./parse.ts";

/** A host name as the Host header has it: without scheme and port; other alphabets are in their ASCII form there. */
const HOST_NAME = /^[\w-]+(\.[\w-]+)*$/;
/** Of applications and extensions: no URL's origin says these. */
const OTHER_ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[\w.-]+(:\d+)?$/;

/** Origins as browsers send them, and `*`. Throws UsageError about what no browser sends. */
export function parseOrigins(given: readonly string[]): readonly string[] {
  return given.map((item) => {
    const origin = item === "*" || item === "null" ? item : originOf(item);
    if (origin !== undefined) return origin;
    throw new UsageError(
      `--cors-origin must be a scheme and a host, as https://app.example or http://10.0.0.7:3000, or *, not "${item}".`,
    );
  });
}

function originOf(text: string): string | undefined {
  if (!/^https?:/i.test(text)) return OTHER_ORIGIN.test(text) ? text : undefined;
  const url = URL.parse(text);
  // A slash at the end is what address bars copy.
  const isPlain = url && /^https?:\/\/[^/?#@*\\\s]+\/?$/i.test(text);
  return isPlain ? url.origin : undefined;
}

/** Names of hosts. Throws UsageError about what no Host header has. */
export function parseHostNames(given: readonly string[]): readonly string[] {
  for (const item of given) {
    if (HOST_NAME.test(item) || isAddress(item)) continue;
    throw new UsageError(
      `--allowed-host must be a host name without scheme, port and path, as svc.lan, not "${item}".`,
    );
  }
  return given;
}
