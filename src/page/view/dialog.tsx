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
        // The pointer is on the backdrop when the target is the dialog element itself.
        if (event.target === element.current) element.current?.close();
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
