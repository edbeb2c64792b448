// What the lists of tools of all conventions have in common.

/** Functions that one request may declare, those of its namespaces included. */
export const MOST_TOOLS = 1024;
