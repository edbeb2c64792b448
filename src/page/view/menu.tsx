// A button that opens a panel; Escape, a click elsewhere or moving the focus away closes the panel.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

interface MenuProps {
  readonly label: string;
  readonly button: ComponentChildren;
  readonly buttonClass?: string;
  /** The side of the button with which the panel is aligned. */
  readonly align?: "start" | "end";
  readonly children: (close: () => void) => ComponentChildren;
}

export function Menu({ label, button, buttonClass = "quiet icon-button", align = "start", children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  useLayoutEffect(() => {
    if (!isOpen) return;
    root.current?.querySelector<HTMLElement>(".panel input:checked, .panel button, .panel a")?.focus();
    const leave = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
    };
  }, [isOpen]);
  return (
    <div
      class="menu"
      ref={root}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return;
        event.stopPropagation();
        close();
      }}
    >
      <button
        ref={opener}
        type="button"
        class={buttonClass}
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      <div id={id} class={`panel ${align}`} hidden={!isOpen}>
        {isOpen && children(close)}
      </div>
    </div>
  );
}
