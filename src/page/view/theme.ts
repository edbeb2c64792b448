// Light, dark, or as the system.

export type Theme = "system" | "light" | "dark";

const KEY = "svc.theme";

export const chosenTheme = (): Theme => {
  const theme = localStorage.getItem(KEY);
  return theme === "light" || theme === "dark" ? theme : "system";
};

/** Shows the page in this theme from now on; without one, in that which was chosen before. */
export function applyTheme(theme: Theme = chosenTheme()): void {
  localStorage.setItem(KEY, theme);
  document.documentElement.dataset["theme"] = theme;
}
