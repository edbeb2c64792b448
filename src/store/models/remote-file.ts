import type { ModelPart, WheelFile } from "./known-sets.ts";

/** A file that can be downloaded. */
export interface RemoteFile {
  /** Path among the model's files; checked to be a safe relative path. */
  readonly path: string;
  readonly url: string;
  /** The subject of error messages: the repository, or the path of a URL. */
  readonly subject: string;
  readonly bytes?: number;
  readonly checksum?: Checksum;
  /** true: the checksum is built into this program, not reported by the hub. */
  readonly isPinned?: true;
  readonly part?: ModelPart;
  /** Set for a wheel: the files to make from it. */
  readonly contents?: readonly [WheelFile, ...WheelFile[]];
  /** A strong entity tag: a partial download may be continued while the tag is unchanged. */
  readonly etag?: string;
}

export interface Checksum {
  /** `git-sha1`: hash of the Git blob, which the hub uses for small files. */
  readonly algorithm: "sha256" | "git-sha1";
  readonly hex: string;
}

/** Returns a string that identifies the version of a file; undefined when nothing does. */
export const identityOf = ({ checksum, etag }: RemoteFile): string | undefined =>
  checksum ? `${checksum.algorithm}:${checksum.hex}` : etag;

const SEGMENT = /^[^.\\/:][^\\/:]{0,200}$/;

/** Returns whether an untrusted path stays below the folder that it is placed in. */
export const isSafePath = (path: string): boolean =>
  path.length <= 512 && path.split("/").every((part) => SEGMENT.test(part) && !/\p{Cc}/u.test(part));
