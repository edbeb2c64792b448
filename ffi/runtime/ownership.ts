// Whether somebody else could change what is loaded as a program: the owner of a file or folder can, and whom its mode lets.

import { readFileSync, type Stats } from "node:fs";

const WRITABLE_BY_OTHERS = 0o022;
/** In such a folder, as /tmp is one, each may remove and rename only what is their own. */
const STICKY = 0o1000;

type Owned = Pick<Stats, "uid" | "mode">;

/** Windows keeps lists of who may do what instead, and those of a user's folders name nobody else. */
export const HAS_MODES = process.platform !== "win32";

/** Whether this user and root alone can change this file, or what is in this folder. */
export const isOurs = (found: Owned): boolean =>
  isOwned(found) && (!HAS_MODES || (found.mode & WRITABLE_BY_OTHERS) === 0);

/** Whether what is ours stays ours in this folder, even where others may put something beside it. */
export const keepsOurs = (found: Owned): boolean => isOurs(found) || (isOwned(found) && (found.mode & STICKY) !== 0);

/**
 * The same of a folder further up; `unknown`: the id that in a user namespace stands for all whom that does not know. Root of
 * the machine, whose the upper folders are, may be one of them.
 */
export const keepsBelow = ({ uid, mode }: Owned, unknown = unknownUid()): boolean =>
  keepsOurs({ uid: uid === unknown ? 0 : uid, mode });

/** Of this process; containers give it one that no password file knows. Windows has none, and calls the owner of any file 0. */
export const ownUid = (): number => process.getuid?.() ?? 0;

const isOwned = ({ uid }: Owned): boolean => uid === ownUid() || uid === 0;

/** How many ids there are: a map of fewer leaves some out. */
const ALL_IDS = 2 ** 32 - 1;

function unknownUid(): number | undefined {
  try {
    const [, , count] = readFileSync("/proc/self/uid_map", "utf8").trim().split(/\s+/);
    return Number(count) === ALL_IDS ? undefined : Number(readFileSync("/proc/sys/kernel/overflowuid", "utf8"));
  } catch {
    // There are no namespaces where these files are not.
    return undefined;
  }
}
