// Downloads and removes models in Ollama's API.

import { OllamaDeleteRequest, OllamaPullRequest, type OllamaPullStatus } from "../../contract/ollama-store.ts";
import { checker } from "../../contract/schema.ts";
import type { DownloadEvent } from "../../domain/download.ts";
import { missing } from "../../domain/errors.ts";
import type { Put, StreamWriter } from "../stream/streamed.ts";

const checkPull = checker(OllamaPullRequest);
const checkDelete = checker(OllamaDeleteRequest);

/** Decodes a download request. Throws SvcError naming the invalid field. */
export function decodePull(raw: unknown): { readonly model: string; readonly stream: boolean } {
  const body = checkPull(raw);
  return { model: modelOf(body), stream: body.stream ?? true };
}

/** Decodes a removal request. Throws SvcError naming the invalid field. */
export const decodeDelete = (raw: unknown): { readonly model: string } => ({ model: modelOf(checkDelete(raw)) });

function modelOf({ model, name }: { readonly model?: string | null; readonly name?: string | null }): string {
  const named = model || name;
  if (named) return named;
  throw missing("model", "the name of a model");
}

/** Returns the result of a download, without updates. Throws what the download throws. */
export async function encodePull(events: AsyncIterable<DownloadEvent>): Promise<OllamaPullStatus> {
  for await (const _ of events);
  return { status: "success" };
}

/** Writes a line for each update. */
export function pullWriter(put: Put<string>): StreamWriter<DownloadEvent> {
  const line = (status: OllamaPullStatus | { readonly error: string }) => put(`${JSON.stringify(status)}\n`);
  return {
    begin: () => line({ status: "pulling manifest" }),
    event: (event) => line(statusOf(event)),
    end: () => line({ status: "success" }),
    failure: ({ message }) => line({ error: message }),
  };
}

function statusOf(event: DownloadEvent): OllamaPullStatus {
  if (event.type === "note") return { status: event.text };
  if (event.type === "done") {
    const { name: model, option } = event;
    return { status: option === undefined ? `served from now on as ${model}` : `serve it: svc ${option} ${model}` };
  }
  const { name, received: completed, total, waiting } = event.progress;
  const status = `${waiting ? "another svc is pulling" : "pulling"} ${name}`;
  return { status, digest: name, ...(total !== undefined && { total }), completed };
}
