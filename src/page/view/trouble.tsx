// Why there is no model to choose, with a button that looks again; nothing when the models are known.

import { usePage } from "./context.ts";
import { Problem } from "./problem.tsx";

export function Trouble() {
  const { session } = usePage();
  const trouble = session.trouble.value;
  if (!trouble) return null;
  return (
    <div class="trouble">
      <Problem text={trouble} />
      <button type="button" class="primary" onClick={() => void session.loadModels()}>
        Try again
      </button>
    </div>
  );
}
