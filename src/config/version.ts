// What this build is. The build defines these names; a run from source reads the package.

import packageJson from "../../package.json" with { type: "json" };

declare const SVC_VERSION: string | undefined;
declare const SVC_COMMIT: string | undefined;
declare const SVC_RELEASES: string | undefined;
declare const SVC_BUILD: Build | undefined;

/** Which of the executables of a release this is. */
export interface Build {
  readonly name: "svc" | "svc-slim";
  /** `linux-x64`; with the flavour behind it, unless it is the usual one. */
  readonly platform: string;
}

/** Version of this build, as in package.json. */
export const version: string = typeof SVC_VERSION === "string" ? SVC_VERSION : packageJson.version;

/** Commit of this build; "source" when run from source. */
export const commit: string = typeof SVC_COMMIT === "string" ? SVC_COMMIT : "source";

/** Where this build was released; undefined for one that was made elsewhere. */
export const builtReleases: string | undefined = typeof SVC_RELEASES === "string" ? SVC_RELEASES : undefined;

/** Undefined when run from source. */
export const build: Build | undefined = typeof SVC_BUILD === "object" ? SVC_BUILD : undefined;

/** Version of the HTTP contract that this build implements. */
export const contractVersion = "0.9.19";
