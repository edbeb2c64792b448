// Both agents with the real program and svc-mini: complete turns, and how much of a prompt is computed again. The
// model is far too small to call tools, which the scripted model does instead.

import { check, ok } from "../clients/checks.ts";
import { Claude } from "./claude.ts";
import { Codex } from "./codex.ts";

/** An agent's first prompt with its tools is longer than this, in svc-mini's tokens. */
const LONG = 5_000;

function reused(prompt: number, cached: number, before: number): void {
  ok(before > LONG, `a first prompt of ${before} tokens`);
  ok(cached >= before, `${cached} of ${prompt} tokens were there, and the prompt before had ${before}`);
}

/** Prints one line per check. `url`: a server with svc-mini and a context for an agent's prompt. */
export async function realChecks(url: string): Promise<void> {
  await check("codex, svc-mini: a turn, and a second one that computes only what is new", async () => {
    const codex = new Codex(url);
    const first = (await codex.exec(["Say hello."])).usage;
    // This is the usage of the whole conversation.
    const both = (await codex.exec(["resume", "--last", "And goodbye."])).usage;
    const before = first?.input_tokens ?? 0;
    const cached = (both?.cached_input_tokens ?? 0) - (first?.cached_input_tokens ?? 0);
    reused((both?.input_tokens ?? 0) - before, cached, before);
    codex.space.remove();
  });

  await check("claude, svc-mini: a turn, and a second one that computes only what is new", async () => {
    const claude = new Claude(url);
    const first = (await claude.print(["Say hello."])).result?.usage;
    const second = (await claude.print(["--continue", "And goodbye."])).result?.usage;
    const before = (first?.input_tokens ?? 0) + (first?.cache_read_input_tokens ?? 0);
    const cached = second?.cache_read_input_tokens ?? 0;
    reused((second?.input_tokens ?? 0) + cached, cached, before);
    claude.space.remove();
  });
}
