// The environment of programs that are to find nothing of the tests' own.

const { SVC_THREADS } = process.env;

/** Returns these variables, and with how many threads the tests want models to be computed: CI gives each program one. */
export const ownEnvironment = (variables: Readonly<Record<string, string>>): Record<string, string> => ({
  ...(SVC_THREADS !== undefined && { SVC_THREADS }),
  ...variables,
});
