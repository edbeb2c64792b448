// What clients meet: addresses, routes, queue, what is kept for them.

import { boolean, integer, list, path, seconds, string } from "../option-types.ts";

const DAY_S = 86_400;
/** 0: without end. */
const daysToSeconds = (days: number) => days * DAY_S || null;

export const serverOptions = {
  host: string({
    aliases: ["H", "hostname"],
    default: "127.0.0.1",
    placeholder: "ADDRESS",
    help: "Address to listen on. Anything but a loopback address exposes the server, which asks nobody for a key.",
  }),
  port: integer(0, 65_535, { aliases: ["p"], default: 9999, help: "Port to listen on; 0 takes a free one." }),
  corsOrigins: list({
    name: "cors-origin",
    placeholder: "ORIGIN",
    help: "Web origin beyond loopback and desktop apps whose pages may call; * for all.",
  }),
  allowedHosts: list({
    name: "allowed-host",
    placeholder: "NAME",
    help: "Host name beyond the loopback ones that requests may carry on a loopback address.",
  }),
  mediaRoot: path({
    placeholder: "DIR",
    help: "Folder whose images messages may name by path; without it they may name none.",
  }),
  mediaFetch: boolean({
    default: true,
    help: "Fetch images from http(s) URLs in messages; with --no-media-fetch only data URLs and --media-root are left.",
  }),
  streaming: boolean({
    default: true,
    help: "Honour stream: true; --no-streaming answers such requests as plain JSON.",
  }),
  conveniences: boolean({
    default: true,
    help: "Serve routes outside /v1 as well, for tools that know the APIs of Ollama or llama.cpp.",
  }),
  heartbeatMs: seconds(0.1, DAY_S, {
    name: "heartbeat",
    default: 15,
    help: "Seconds of silence in a stream after which a comment line keeps the connection alive.",
  }),
  maxQueue: integer(0, 100_000, {
    default: 256,
    help: "Requests that may wait beyond the running ones before 503 server_busy.",
  }),
  maxQueueTokens: integer(0, 1_000_000_000, {
    default: 1_000_000,
    help: "Prompt tokens that may wait in all before 503 server_busy; one prompt may wait however long it is.",
  }),
  queueTimeoutMs: seconds(0, DAY_S, {
    name: "queue-timeout",
    default: 0,
    help: "Seconds that an accepted request may wait for its turn before 503 server_busy; 0 is no limit.",
  }),
  storedResponses: {
    count: integer(0, 1_000_000, {
      name: "stored-responses",
      default: 1024,
      help: "Answers of /v1/responses that are kept in memory for fetching and continuing; the oldest go first.",
    }),
    bytes: integer(1, 1_000_000, {
      name: "stored-responses-mb",
      default: 256,
      to: (megabytes) => megabytes * 1_000_000,
      help: "Megabytes that these may have together.",
    }),
  },
  files: {
    bytes: integer(1, 1_000_000, {
      name: "max-file-mb",
      default: 100,
      to: (megabytes) => megabytes * 2 ** 20,
      help: "Megabytes of the largest file that /v1/files takes.",
    }),
    lines: integer(1, 100_000_000, {
      name: "max-batch-lines",
      default: 50_000,
      help: "Requests that one batch may have.",
    }),
    keepSeconds: integer(0, 36_500, {
      name: "keep-files",
      default: 30,
      to: daysToSeconds,
      help: "Days that files are kept that say nothing else; 0 keeps them until they are deleted.",
    }),
    keepBatchSeconds: integer(0, 36_500, {
      name: "keep-batches",
      default: 30,
      to: daysToSeconds,
      help: "Days that batches are listed after their end, and never less than their output file is kept; 0: for ever.",
    }),
  },
  loadTimeoutMs: seconds(0, DAY_S, {
    name: "load-timeout",
    default: 300,
    help: "Seconds that a request waits for a model that is loading or restarting.",
  }),
  drainTimeoutMs: seconds(0, DAY_S, {
    name: "drain-timeout",
    default: 8,
    help: "Seconds that running requests have to finish after SIGTERM before they are cancelled.",
  }),
};
