/** Returns the milliseconds of a Retry-After header, which has seconds or a date. `now`: milliseconds since 1970. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const given = headers.get("retry-after");
  if (given === null) return undefined;
  const ms = /^\d{1,6}$/.test(given) ? Number(given) * 1000 : Date.parse(given) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
