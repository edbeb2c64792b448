// Keeps the focus in its turn.

import { useEffect } from "preact/hooks";

/** What had the focus: an element of the turn with this index. */
interface Held {
  readonly target: Element;
  readonly at: number;
  /** Selectors of what may take its place, the best first. */
  readonly heirs: readonly string[];
}

/**
 * When the focused control of a turn vanishes, as after Regenerate or at the end of an edit, focuses the one of the same
 * name in the turn that took the turn's place, or else that turn.
 */
export function useKeptFocus(turns: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const { current: root } = turns;
    if (!root) return;
    let held: Held | undefined;
    const hold = ({ target }: FocusEvent) => {
      held = target instanceof Element && root.contains(target) ? holdOn(target, root) : undefined;
    };
    const changes = new MutationObserver(() => {
      if (!held || held.target.isConnected || document.activeElement !== document.body) return;
      const { at, heirs } = held;
      held = undefined;
      const turn = root.children[at];
      if (turn instanceof HTMLElement) focusIn(turn, heirs);
    });
    changes.observe(root, { childList: true, subtree: true });
    document.addEventListener("focusin", hold);
    return () => {
      changes.disconnect();
      document.removeEventListener("focusin", hold);
    };
  }, []);
}

function holdOn(target: Element, root: Element): Held {
  const at = [...root.children].findIndex((turn) => turn.contains(target));
  if (target.closest(".editor")) return { target, at, heirs: ['[aria-label="Edit"]'] };
  const same = `button[aria-label="${CSS.escape(target.ariaLabel ?? "")}"]:enabled`;
  return { target, at, heirs: target.closest(".branches") ? [same, ".branches button:enabled"] : [same] };
}

function focusIn(turn: HTMLElement, heirs: readonly string[]): void {
  const heir = heirs.map((selector) => turn.querySelector<HTMLElement>(selector)).find(Boolean);
  if (!heir) turn.tabIndex = -1;
  (heir ?? turn).focus({ preventScroll: true });
  // Keeps the button in view with which one goes on to the next version.
  if (heir?.closest(".branches")) heir.scrollIntoView({ block: "nearest" });
}
