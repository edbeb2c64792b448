/** Returns the variables that a line of a unit or of a Dockerfile sets: `A=1 B=2`. */
export const environmentIn = (line: string): Record<string, string> =>
  Object.fromEntries([...line.matchAll(/(\w+)=(\S*)/g)].map(([, name = "", value = ""]) => [name, value]));
