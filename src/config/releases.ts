// Addresses of svc's releases, laid out as on GitHub: `download/vVERSION/FILE` and `latest/download/FILE`.

import type { Config } from "./config.ts";
import { isLoopback } from "./host-name.ts";
import { UsageError } from "./parse.ts";
import { builtReleases, version } from "./version.ts";

/**
 * Removes trailing slashes. Throws UsageError unless the URL is https, or http on this machine, because checksums are
 * downloaded from it.
 */
export function toReleases(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname)))
    return given.replace(/\/+$/, "");
  throw new UsageError("--releases must be an https URL, or an http URL on this machine.");
}

/** Returns the address of a file of a release; undefined if neither the options nor the build name a release server. */
export function releasedFile(
  { releases = builtReleases }: Pick<Config, "releases">,
  file: string,
  of = version,
): string | undefined {
  return releases && `${releases}/download/v${of}/${file}`;
}

/** Returns the address of a file of the newest release, or undefined as above. */
export function newestFile({ releases = builtReleases }: Pick<Config, "releases">, file: string): string | undefined {
  return releases && `${releases}/latest/download/${file}`;
}
