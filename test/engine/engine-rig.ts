// The engine loop with a native library without a model. The prompt "say héllo|" is answered with "héllo" and the end
// token.

import type { Media } from "../../ffi/media/api.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { Engine } from "../../src/engine/text/child/engine.ts";
import type { EngineOptions, FromTextEngine } from "../../src/engine/text/protocol.ts";
import { FakeLlama } from "../support/fake-llama.ts";
import { SMALL_ENGINE } from "./fixtures/small-engine.ts";

export const OPTIONS = { ...SMALL_ENGINE, sampling: { topK: 7 } };

/** Starts an engine; its functions return what it sent about the request with this key. */
export function startEngine(llama = new FakeLlama(), options: Partial<EngineOptions> = {}, media?: Media) {
  const messages: FromTextEngine[] = [];
  const all = { ...OPTIONS, ...options };
  const engine = new Engine(llama, all, (message) => messages.push(message), systemClock, media);
  let failure: unknown;
  engine.run().catch((error) => (failure = error));
  const until = async (done: () => boolean) => {
    for (let turn = 0; !done(); turn++) {
      if (failure) throw failure;
      if (turn > 500) throw new Error(`nothing happened; messages: ${JSON.stringify(messages).slice(0, 500)}`);
      await Bun.sleep(2);
    }
  };
  const steps = () => messages.filter((message) => message.type === "events");
  const last = (key: number) => steps().flatMap((step) => step.finished.filter((end) => end.key === key))[0]?.event;
  const finished = (key: number) => {
    const event = last(key);
    return event?.type === "finish" ? event : undefined;
  };
  const texts = (key: number) =>
    steps()
      .flatMap((step) => step.outputs.filter((output) => output.key === key))
      .flatMap(({ events }) => events.filter((event) => event.type === "text"));
  const text = (key: number) =>
    texts(key)
      .map((part) => part.text)
      .join("");
  return { engine, llama, messages, until, last, finished, texts, text, steps };
}
