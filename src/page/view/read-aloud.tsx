// Speaks a text with the server's speech model.

import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../state/api.ts";
import { Act } from "./act.tsx";
import { usePage } from "./context.ts";

/** Maximum number of characters to send, since the server limits the text of one request. */
const MOST = 32_000;

interface ReadAloudProps {
  readonly text: () => string;
  /** Receives the error message, or an empty string when speech begins. */
  readonly onProblem: (problem: string) => void;
}

export function ReadAloud({ text, onProblem }: ReadAloudProps) {
  const { api, session, speech } = usePage();
  const [state, setState] = useState<"silent" | "loading" | "speaking">("silent");
  const stop = useRef(() => {});
  useEffect(() => () => stop.current(), []);
  if (!session.abilities.value.speech) return null;
  const speak = async () => {
    const abort = new AbortController();
    const audio = new Audio();
    // Only one answer speaks at a time.
    speech.stop();
    stop.current = speech.stop = () => {
      abort.abort();
      audio.pause();
      URL.revokeObjectURL(audio.src);
      setState("silent");
    };
    setState("loading");
    onProblem("");
    try {
      const body = { input: text().slice(0, MOST) };
      const response = await api.fetch("/v1/audio/speech", body, { signal: abort.signal });
      audio.src = URL.createObjectURL(await response.blob());
      audio.addEventListener("ended", () => stop.current());
      await audio.play();
      if (!abort.signal.aborted) setState("speaking");
    } catch (error) {
      if (abort.signal.aborted) return;
      stop.current();
      onProblem(messageOf(error));
    }
  };
  if (state === "silent") return <Act icon="speaker" label="Read aloud" onClick={() => void speak()} />;
  return (
    <Act
      icon="stop"
      label={state === "loading" ? "Stop (loading speech)" : "Stop reading"}
      onClick={() => stop.current()}
    />
  );
}
