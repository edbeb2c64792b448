// Patterns for keys and their names.

/** A name of a key, usable in logs and metric labels without escaping. */
export const KEY_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** A key that fits into an HTTP header. */
export const KEY = /^[\x21-\x7e]+$/;
