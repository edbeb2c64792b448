// Messages with images and sound, and what models that cannot take them read instead.

import type { TestServer } from "./harness.ts";

/** The text of the fake reader's pages: the first with its table in place of the line, then the second. */
export const READ = "Invoice 7\n\n| Name | Sum |\n| --- | --- |\n| a | 12.50 |\n\nSum: 12.50\n\nThe end.";
/** The text that the fake transcriber returns for any recording. */
export const HEARD = "Hello there. A <b> & so on.";

export const pictureUrl = (content: string) => `data:image/png;base64,${Buffer.from(content).toBase64()}`;
export const image = (content: string, more: object = {}) => ({
  type: "image_url",
  image_url: { url: pictureUrl(content), ...more },
});
export const sound = (content: string, more: object = {}) => ({
  type: "input_audio",
  input_audio: { data: Buffer.from(content).toBase64(), format: "wav", ...more },
});
export const text = (content: string) => ({ type: "text", text: content });
export const user = (...content: unknown[]) => [{ role: "user", content }];

/** Returns the messages of each request to the text model. */
export const prompts = ({ engine }: TestServer) => engine.requests.map(({ messages }) => messages);
