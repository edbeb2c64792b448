// A server whose answers never end.

import { Api } from "../../src/page/state/api.ts";
import type { Session } from "../../src/page/state/session.ts";

/** A server that writes a word, and nothing more until the client disconnects. */
export class EndlessApi extends Api {
  override async fetch(path: string, _body?: object, { signal }: RequestInit = {}): Promise<Response> {
    if (path === "/v1/models") return Response.json({ data: [{ id: "m" }], models: [{ capabilities: ["chat"] }] });
    const delta = { choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: null }] };
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        stream.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(delta)}\n\n`));
        signal?.addEventListener("abort", () => stream.error(signal.reason));
      },
    });
    return new Response(body);
  }
}

/** Starts an answer in a new conversation, and returns the conversation's id once the word is there. */
export async function askIn(session: Session): Promise<string> {
  session.begin();
  session.send("Hi");
  while (session.run?.answer.value.turn.text !== "Hello") await Bun.sleep(5);
  return session.conversation.value.id;
}
