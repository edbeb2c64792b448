// Long tables of words, written as text.

/** Returns the values by their keys: `en english, ht haitian creole`. Line breaks are allowed after commas. */
export const wordTable = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(",").map((pair) => {
      const [key = "", ...value] = pair.trim().split(" ");
      return [key, value.join(" ")];
    }),
  );
