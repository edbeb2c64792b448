// Finds out whether another user could change what is loaded as a program: the owner of a file or folder can, and users
// whom its mode permits.

import { readFileSync, type Stats } from "node:fs";

const WRITABLE_BY_OTHERS = 0o022;
/** In such a folder, for example /tmp, users may remove and rename only their own entries. */
const STICKY = 0o1000;

type Owned = Pick<Stats, "uid" | "mode">;

/** Windows has access control lists instead, and those of a user's folders name no other user. */
export const HAS_MODES = process.platform !== "win32";

/** Returns whether only this user and root can change this file, or what is in this folder. */
export const isOurs = (found: Owned): boolean =>
  isOwned(found) && (!HAS_MODES || (found.mode & WRITABLE_BY_OTHERS) === 0);

/** Returns whether our entries in this folder stay ours, even where others may add entries beside them. */
export const keepsOurs = (found: Owned): boolean => isOurs(found) || (isOwned(found) && (found.mode & STICKY) !== 0);

/**
 * Does the same for a folder further up. `unknown`: in a user namespace, the id that stands for all users that the
 * namespace does not know. The machine's root, who owns the upper folders, may be one of them.
 */
export const keepsBelow = ({ uid, mode }: Owned, unknown = unknownUid()): boolean =>
  keepsOurs({ uid: uid === unknown ? 0 : uid, mode });

/**
 * Returns the user id of this process; in containers no password file may know it. On Windows 0, the owner of any file.
 */
export const ownUid = (): number => process.getuid?.() ?? 0;

const isOwned = ({ uid }: Owned): boolean => uid === ownUid() || uid === 0;

/** Number of existing ids: a map with fewer leaves some out. */
const ALL_IDS = 2 ** 32 - 1;

function unknownUid(): number | undefined {
  try {
    const [, , count] = readFileSync("/proc/self/uid_map", "utf8").trim().split(/\s+/);
    return Number(count) === ALL_IDS ? undefined : Number(readFileSync("/proc/sys/kernel/overflowuid", "utf8"));
  } catch {
    // Systems without these files have no user namespaces.
    return undefined;
  }
}
