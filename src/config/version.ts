// Version and origin of this build. The build defines these names; a run from source reads package.json.

import packageJson from "../../package.json" with { type: "json" };

declare const SVC_VERSION: string | undefined;
declare const SVC_COMMIT: string | undefined;
declare const SVC_RELEASES: string | undefined;
declare const SVC_BUILD: Build | undefined;

/** Identifies the executable among those of a release. */
export interface Build {
  readonly name: "svc" | "svc-slim";
  /** `linux-x64`, with the flavour appended unless it is the default one. */
  readonly platform: string;
}

/** Version of this build, as in package.json. */
export const version: string = typeof SVC_VERSION === "string" ? SVC_VERSION : packageJson.version;

/** How downloads name this program to servers. */
export const userAgent = `svc/${version}`;

/** Commit of this build; "source" when run from source. */
export const commit: string = typeof SVC_COMMIT === "string" ? SVC_COMMIT : "source";

/** Address of the releases of this build; undefined for a build that was not made for a release. */
export const builtReleases: string | undefined = typeof SVC_RELEASES === "string" ? SVC_RELEASES : undefined;

/** This executable; undefined when run from source. */
export const build: Build | undefined = typeof SVC_BUILD === "object" ? SVC_BUILD : undefined;

/** Version of the HTTP contract that this build implements. */
export const contractVersion = "0.9.19";
