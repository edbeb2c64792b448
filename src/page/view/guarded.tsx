// Shows a sentence in place of a message that cannot be shown, so that the rest of the page goes on.

import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Problem } from "./problem.tsx";

export function Guarded({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary();
  if (error === undefined) return <>{children}</>;
  return (
    <article class="turn">
      <Problem text="This message cannot be shown." />
    </article>
  );
}
