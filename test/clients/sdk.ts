// The official TypeScript SDK, as installed in a folder: `.` has the newest major version, `older` an earlier one.

import { join } from "node:path";
import type { OpenAI as Client } from "openai";
import type { Response } from "openai/resources/responses/responses";

type Package = typeof import("openai");
type Helpers = typeof import("openai/helpers/zod");

/** The SDK, its helpers and its version of zod, with the types of the newest ones. */
export interface Sdk extends Pick<
  Helpers,
  "zodResponseFormat" | "zodFunction" | "zodTextFormat" | "zodResponsesFunction"
> {
  readonly version: string;
  readonly OpenAI: Package["OpenAI"];
  readonly toFile: Package["toFile"];
  readonly z: (typeof import("zod"))["z"];
  /** A client for svc-mini. */
  readonly client: Client;
  /** A client for a model that never ends its answer. */
  readonly endless: Client;
  /** A client for the same model with one request at a time, whose engine may be killed. */
  readonly narrow: Client;
  /** A client for a model with vision. */
  readonly vision: Client;
  /** The object with `parse`, `stream` and `runTools`, which older versions have under `beta`. */
  readonly helpers: Client["chat"]["completions"];
}

export async function loadSdk(folder: string): Promise<Sdk> {
  const load = async (name: string) => import(Bun.resolveSync(name, join(import.meta.dir, folder)));
  const { OpenAI, toFile } = (await load("openai")) as Package;
  const { zodResponseFormat, zodFunction, zodTextFormat, zodResponsesFunction } = (await load(
    "openai/helpers/zod",
  )) as Helpers;
  const { z } = (await load("zod")) as typeof import("zod");
  const { version } = (await load("openai/package.json")) as { version: string };
  const clientFor = (url: string | undefined) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "unused", maxRetries: 0 });
  const client = clientFor(process.env["SVC_URL"]);
  const endless = clientFor(process.env["ENDLESS_URL"]);
  const { beta } = client as unknown as { beta: { chat: Client["chat"] } };
  const helpers = "parse" in client.chat.completions ? client.chat.completions : beta.chat.completions;
  return {
    version,
    OpenAI,
    toFile,
    z,
    zodResponseFormat,
    zodFunction,
    zodTextFormat,
    zodResponsesFunction,
    client,
    endless,
    narrow: clientFor(process.env["NARROW_URL"]),
    vision: clientFor(process.env["VISION_URL"]),
    helpers,
  };
}

/** Returns the text of a response; older versions have `output_text` only on the result of `create`. */
export const outputText = ({ output }: Pick<Response, "output">): string =>
  output
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map((part) => (part.type === "output_text" ? part.text : ""))
    .join("");

/** Runs a call that must fail and returns the SDK's exception. */
export async function failure<Kind extends Error>(
  call: () => PromiseLike<unknown>,
  kind: abstract new (...parameters: never[]) => Kind,
): Promise<Kind> {
  try {
    await call();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error("the call succeeded");
}
