import { expect, spyOn, test } from "bun:test";
import { openOpus } from "../../../src/audio/decode/opus.ts";

/** The head of a stream with one channel at 48 kHz. */
const HEAD = Buffer.from("OpusHead\x01\x01\x00\x00\x80\xbb\x00\x00\x00\x00\x00", "latin1");

test("damaged packets are played as silence, with one log line and nothing on standard error", async () => {
  const printed = spyOn(console, "error");
  try {
    const notes: string[] = [];
    const opus = await openOpus(HEAD, (text) => notes.push(text));
    // The last byte is the frame count, but there are no frames.
    const damaged = Uint8Array.of(0xff, 0x00);
    for (let packet = 0; packet < 3; packet++) expect(opus.decode(damaged, 0, 0)).toHaveLength(0);
    opus.close();
    expect(notes).toEqual(["3 Opus packets are damaged"]);
    expect(printed).not.toHaveBeenCalled();
  } finally {
    printed.mockRestore();
  }
});
