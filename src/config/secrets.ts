// What names of keys, and keys, are made of.

/** Fits into logs and labels as it is. */
export const KEY_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** What a header can carry. */
export const KEY = /^[\x21-\x7e]+$/;
