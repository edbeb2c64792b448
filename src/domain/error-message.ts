/** Returns the message of a caught value; for anything but an Error, the value as a string. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
