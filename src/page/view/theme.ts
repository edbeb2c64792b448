// The page's theme: light, dark, or that of the system.

export type Theme = "system" | "light" | "dark";

const KEY = "svc.theme";

export const chosenTheme = (): Theme => {
  const theme = localStorage.getItem(KEY);
  return theme === "light" || theme === "dark" ? theme : "system";
};

/** Applies and stores a theme; by default the one chosen before. */
export function applyTheme(theme: Theme = chosenTheme()): void {
  localStorage.setItem(KEY, theme);
  document.documentElement.dataset["theme"] = theme;
}
