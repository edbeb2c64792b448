// Parses the origins and host names from which browsers may call.

import { isAddress } from "./host-name.ts";
import { UsageError } from "./parse.ts";

/** A host name as in the Host header: without scheme and port, other alphabets in their ASCII form. */
const HOST_NAME = /^[\w-]+(\.[\w-]+)*$/;
/** Origins of applications and browser extensions, which `URL.origin` does not return. */
const OTHER_ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[\w.-]+(:\d+)?$/;

/** Returns the origins as browsers send them, and `*`. Throws UsageError for anything that no browser sends. */
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
  // An address copied from a browser ends with a slash.
  const isPlain = url && /^https?:\/\/[^/?#@*\\\s]+\/?$/i.test(text);
  return isPlain ? url.origin : undefined;
}

/** Checks host names. Throws UsageError for a name that no Host header can contain. */
export function parseHostNames(given: readonly string[]): readonly string[] {
  for (const item of given) {
    if (HOST_NAME.test(item) || isAddress(item)) continue;
    throw new UsageError(
      `--allowed-host must be a host name without scheme, port and path, as svc.lan, not "${item}".`,
    );
  }
  return given;
}
