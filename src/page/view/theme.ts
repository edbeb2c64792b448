// The page's theme: light, dark, or that of the system.

import type { Kept } from "../state/kept.ts";

export type Theme = "system" | "light" | "dark";

const KEY = "svc.theme";

export const chosenTheme = (kept: Kept): Theme => {
  const theme = kept.get(KEY);
  return theme === "light" || theme === "dark" ? theme : "system";
};

/** Applies and stores a theme; by default the one chosen before. */
export function applyTheme(kept: Kept, theme: Theme = chosenTheme(kept)): void {
  document.documentElement.dataset["theme"] = theme;
  kept.set(KEY, theme);
}
