// The same as dictation.test.ts, through a crash.

import { describe, expect, test } from "bun:test";
import { wordsOf } from "../native/whisper-harness.ts";
import { childrenOf } from "../support/processes.ts";
import { RealtimeClient } from "../support/realtime-client.ts";
import { dictationServer, english, isWhole, said, second } from "./dictation-rig.ts";

describe.skipIf(!isWhole)("dictation", () => {
  const server = dictationServer();

  test("goes on behind a crash of the engine, which fails what it was recognising", async () => {
    const sound = await said(server, second);
    const client = await RealtimeClient.open(server.url);
    client.set({ ...english, turn_detection: null });
    client.append(sound);
    client.commit();
    await client.completed();
    const engine = childrenOf(server.pid).at(-1) ?? 0;
    // Half a minute: more than is recognised by then.
    for (let times = 0; times < 9; times++) client.append(sound);
    client.commit();
    await client.next("input_audio_buffer.committed");
    process.kill(engine, "SIGKILL");
    const { error } = await client.failed();
    expect(error).toMatchObject({ type: "server_error", code: "engine_crashed" });
    client.append(sound);
    client.commit();
    expect(wordsOf((await client.completed()).transcript ?? "")).toEqual(wordsOf(second));
    client.close();
  }, 120_000);
});
