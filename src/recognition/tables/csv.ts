/** Rows as comma-separated values (RFC 4180): lines end with CR LF, also the last one. */
export const csv = (rows: readonly (readonly string[])[]): string =>
  rows.map((texts) => `${texts.map(field).join(",")}\r\n`).join("");

const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
