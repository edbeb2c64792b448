// Formats numbers for people.

const UNITS = ["bytes", "KB", "MB", "GB", "TB"] as const;
// Making one of these takes longer than using it.
const COMPACT = Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const WHOLE = Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** `1.4 GB`. */
export function bytes(count: number): string {
  let power = 0;
  // What would be rounded to 1000 has the next unit.
  while (count / 1000 ** power >= 999.5 && power < UNITS.length - 1) power++;
  const value = count / 1000 ** power;
  return `${power === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

/** `4.2M`, `128K`. */
export const compact = (count: number): string => COMPACT.format(count);

/** `128K` for 131,072 tokens, as context lengths are usually given. */
export const contextLength = (tokens: number): string =>
  tokens >= 1024 && tokens % 1024 === 0 ? `${tokens / 1024}K` : compact(tokens);

/** `12,345`. */
export const whole = (count: number): string => WHOLE.format(count);

interface Prompt {
  readonly prompt_tokens: number;
  readonly processed_prompt_tokens?: number;
}

/** `1,024 of 4,096` while a prompt is computed, then `4,096`; a dash when there is no prompt. */
export function promptProgress({ prompt_tokens: all, processed_prompt_tokens: done = all }: Prompt): string {
  if (all === 0) return "–";
  return done < all ? `${whole(done)} of ${whole(all)}` : whole(all);
}

/** `0`, `0.84`, `37.2`, `412`: three significant digits. */
export const rate = (perSecond: number): string =>
  perSecond >= 99.95 || perSecond === 0 ? whole(perSecond) : perSecond.toFixed(perSecond >= 9.995 ? 1 : 2);

/** `43 ms`, `2.31 s`, `2 min 5 s`, `1 h 2 min`. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.5) return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s`;
  const total = Math.round(seconds);
  const minutes = Math.floor(total / 60);
  return minutes < 60 ? `${minutes} min ${total % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `just now`, `5 minutes ago`, `yesterday`, `3 March`, `3 March 2025`. */
export function ago(then: number, now: number): string {
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return RELATIVE.format(-minutes, "minute");
  if (minutes < 24 * 60) return RELATIVE.format(-Math.floor(minutes / 60), "hour");
  const days = Math.floor(minutes / (24 * 60));
  if (days < 7) return RELATIVE.format(-days, "day");
  const date = new Date(then);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "long", ...(!isThisYear && { year: "numeric" }) });
}
