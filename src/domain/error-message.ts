/** What a caught value says of itself. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
