// Where releases of svc are: a folder on the web as GitHub lays it out, `download/vVERSION/FILE` and `latest/download/FILE`.

import { isLoopback } from "./host-name.ts";
import { UsageError } from "./parse.ts";
import { builtReleases, version } from "./version.ts";

/** Without a slash at its end. Throws UsageError unless it is https, or http on this machine: checksums come from there. */
export function toReleases(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname)))
    return given.replace(/\/+$/, "");
  throw new UsageError("--releases must be an https URL, or an http URL on this machine.");
}

interface Releases {
  readonly releases?: string;
}

/** Address of a file of a version's release, this one's at first; undefined: this build was not made for a release, and none is named. */
export function releasedFile(
  { releases = builtReleases }: Releases,
  file: string,
  of: string = version,
): string | undefined {
  return releases && `${releases}/download/v${of}/${file}`;
}

/** Address of a file of the newest release; likewise. */
export function newestFile({ releases = builtReleases }: Releases, file: string): string | undefined {
  return releases && `${releases}/latest/download/${file}`;
}
