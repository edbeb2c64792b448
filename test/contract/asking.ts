// Sends requests to the routes of all APIs; also the fields of their answers that tests look at.

import type { FakeScript } from "../support/fake-text-engine.ts";
import { serve } from "../http/harness.ts";
import { scripts, type ScriptName } from "./scripts.ts";

export const id = { "x-request-id": "golden" };
export const schema = { type: "object", properties: { city: { type: "string" } } };

/** The fields that tests look at, of any API. */
export interface Answer {
  readonly id: string;
  readonly status: string;
  readonly background: boolean;
  readonly output: readonly { readonly content: readonly { readonly text: string }[] }[];
  readonly previous_response_id: string;
  readonly data: readonly { readonly content: unknown }[];
  readonly choices: readonly { readonly text: string; readonly index: number }[];
  readonly usage: object;
  readonly error: { readonly param: string };
}

export const json = async (response: Response | Promise<Response>): Promise<Answer> =>
  (await (await response).json()) as Answer;

/** Posts `body` to a server whose engine answers with the script. */
export const run = (path: string, body: object, name: ScriptName, stream: boolean): Promise<Response> =>
  serve(scripts[name] as FakeScript).post(path, { ...body, stream }, id);
