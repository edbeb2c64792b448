// Whether somebody else could change what is loaded as a program: the owner of a file or folder can, and whom its mode lets.

import type { Stats } from "node:fs";

const WRITABLE_BY_OTHERS = 0o022;
/** In such a folder, as /tmp is one, each may remove and rename only what is their own. */
const STICKY = 0o1000;

/** Whether this user and root alone can change this file, or what is in this folder. */
export const isOurs = (found: Stats): boolean => isOwned(found) && (found.mode & WRITABLE_BY_OTHERS) === 0;

/** Whether what is ours stays ours in this folder, even where others may put something beside it. */
export const keepsOurs = (found: Stats): boolean => isOurs(found) || (isOwned(found) && (found.mode & STICKY) !== 0);

/** Of this process; containers give it one that no password file knows. -1 where the system has none. */
export const ownUid = (): number => process.getuid?.() ?? -1;

const isOwned = ({ uid }: Stats): boolean => uid === ownUid() || uid === 0;
