// Asks for the API key that the server requires.

import { useRef } from "preact/hooks";
import { usePage } from "./context.ts";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./problem.tsx";

export function KeyDialog() {
  const { api, session } = usePage();
  const field = useRef<HTMLInputElement>(null);
  return (
    <Dialog title="API key" onClose={() => api.declineKey()}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (api.useKey(field.current?.value.trim() ?? "")) void session.loadModels();
        }}
      >
        {api.needsKey.value === "refused" && <Problem text="The server did not accept this key." />}
        <p>This server needs an API key. The key is kept until this tab is closed.</p>
        <label class="field">
          Key
          <input ref={field} type="password" autocomplete="off" required autofocus />
        </label>
        <div class="buttons">
          <button type="submit" class="primary">
            Use the key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
