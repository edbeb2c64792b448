// What is common to the messages of every kind of engine. Both ends are the same binary, so the version only catches a
// stale process; adding a message is a version bump.

export const PROTOCOL_VERSION = 7;

/** File descriptor in the engine process on which the front process asks for aborts: one 4-byte key each. */
export const ABORT_FD = 3;

/** Numbers a request within one engine process; never reused. */
export type RequestKey = number;
