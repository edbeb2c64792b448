// A modal dialog: the browser keeps the focus inside and closes the dialog on Escape.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Act } from "./act.tsx";

interface DialogProps {
  readonly title: string;
  readonly class?: string;
  /** Whether a field whose text is not accepted keeps the dialog open, so that the text is not lost. */
  readonly keepsInvalid?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, class: name = "", keepsInvalid = false, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  /** Returns whether the dialog has to stay open, and then shows why. */
  const isKept = () => {
    const invalid = element.current?.querySelector<HTMLInputElement>(":is(input, textarea):invalid");
    if (!keepsInvalid || !invalid) return false;
    invalid.reportValidity();
    return true;
  };
  const close = () => isKept() || element.current?.close();
  useLayoutEffect(() => element.current?.showModal(), []);
  return (
    <dialog
      ref={element}
      class={name}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={(event) => isKept() && event.preventDefault()}
      onKeyDown={(event) => {
        // Browsers let pages prevent only the first of several attempts to cancel.
        if (event.key === "Escape" && isKept()) event.preventDefault();
      }}
      onPointerDown={(event) => {
        // The backdrop's target is the dialog element, as is that of the dialog's own empty parts.
        const { current } = element;
        if (current && event.target === current && !isWithin(event, current)) close();
      }}
    >
      <div class="sheet">
        <header>
          <h2 id={id}>{title}</h2>
          <Act icon="close" label="Close" onClick={close} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

function isWithin({ clientX: x, clientY: y }: PointerEvent, element: Element): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return x >= left && x <= right && y >= top && y <= bottom;
}
