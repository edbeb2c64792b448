// What tool lists have in common in all APIs.

/** Functions that one request may declare, including those in namespaces. */
export const MOST_TOOLS = 1024;
