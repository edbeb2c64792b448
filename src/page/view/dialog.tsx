// A modal dialog: the browser keeps the focus inside and closes the dialog on Escape.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Act } from "./act.tsx";

interface DialogProps {
  readonly title: string;
  readonly class?: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, class: name = "", onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => element.current?.showModal(), []);
  return (
    <dialog
      ref={element}
      class={name}
      aria-labelledby={id}
      onClose={onClose}
      onPointerDown={(event) => {
        // The backdrop's target is the dialog element, as is that of the dialog's own empty parts.
        const { current } = element;
        if (current && event.target === current && !isWithin(event, current)) current.close();
      }}
    >
      <div class="sheet">
        <header>
          <h2 id={id}>{title}</h2>
          <Act icon="close" label="Close" onClick={() => element.current?.close()} />
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
