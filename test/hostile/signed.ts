/** Returns a whole number with its sign, as a figure of an attack. */
export const signed = (number: number): string => {
  const text = String(Math.round(number));
  return text.startsWith("-") ? text.replace("-", "−") : `+${text}`;
};
