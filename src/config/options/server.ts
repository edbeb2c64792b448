// Options for what clients see: addresses, routes, queue limits and stored data.

import { withoutBrackets } from "../host-name.ts";
import { boolean, choice, integer, list, number, path, seconds, string } from "../option-types.ts";
import { parseHostNames, parseOrigins } from "../origins.ts";

const DAY_S = 86_400;
/** Converts days to seconds; 0 becomes null: no end. */
const daysToSeconds = (days: number) => days * DAY_S || null;

export const serverOptions = {
  host: string({
    aliases: ["H", "hostname"],
    default: "127.0.0.1",
    placeholder: "ADDRESS",
    to: withoutBrackets,
    help: "Address to listen on. Any address other than loopback exposes the server to other machines: require API keys.",
  }),
  port: integer(0, 65_535, { aliases: ["p"], default: 9999, help: "Port to listen on; 0: any free port." }),
  readyFile: path({
    placeholder: "FILE",
    example: "/run/svc/address",
    help: "File to write the server's address to once it is ready; it is removed when the server stops.",
  }),
  apiKeys: list({
    name: "api-key",
    secret: true,
    placeholder: "[NAME=]KEY",
    example: ["anna=change-me"],
    help: "API key that requests must send. NAME identifies the client in logs, metrics and fair queueing. Every user of the machine can read the command line, so prefer --api-key-file, the environment or the config file.",
  }),
  apiKeyFiles: list({
    name: "api-key-file",
    paths: true,
    placeholder: "FILE",
    example: ["keys.txt"],
    help: "File of API keys, one [NAME=]KEY per line; blank lines and lines that begin with # are ignored.",
  }),
  requireAuth: boolean({
    default: false,
    help: "Refuse to start on any address other than loopback without an API key.",
  }),
  keyRpm: integer(0, 1_000_000, {
    default: 0,
    help: "Maximum requests per minute for each API key name; further requests fail with 429 rate_limit_exceeded. 0: no limit.",
  }),
  keyConcurrent: integer(0, 100_000, {
    default: 0,
    help: "Maximum concurrent requests for each API key name; further requests fail with 429 rate_limit_exceeded. 0: no limit.",
  }),
  tls: {
    cert: path({
      name: "tls-cert",
      placeholder: "FILE",
      example: "cert.pem",
      help: "PEM certificate, followed by its intermediates: serve HTTPS. Needs --tls-key.",
    }),
    key: path({
      name: "tls-key",
      placeholder: "FILE",
      example: "key.pem",
      help: "PEM private key of the certificate in --tls-cert, without a passphrase.",
    }),
  },
  corsOrigins: list({
    name: "cors-origin",
    placeholder: "ORIGIN",
    example: ["https://chat.example.com"],
    to: parseOrigins,
    help: "Web origin whose pages may call the server, in addition to loopback and desktop apps; * allows all.",
  }),
  allowedHosts: list({
    name: "allowed-host",
    placeholder: "NAME",
    example: ["svc.example.com"],
    to: parseHostNames,
    help: "Host name to accept in the Host header of requests, in addition to IP addresses, the loopback names and the name in --host.",
  }),
  mediaRoot: path({
    placeholder: "DIR",
    example: "media",
    help: "Folder of images, documents and recordings that requests may name by path; without this option, paths are refused.",
  }),
  mediaFetch: boolean({
    default: true,
    help: "Fetch images from http(s) URLs in messages; --no-media-fetch leaves only data URLs and --media-root.",
  }),
  mediaFetchPrivate: boolean({
    default: false,
    help: "Also fetch images from loopback and private addresses; without this option, only from public addresses.",
  }),
  maxAudioMinutes: number(0.1, 10_080, {
    default: 480,
    help: "Maximum length in minutes of a recording, and of the sound in a session of /v1/realtime.",
  }),
  maxAudioBytes: integer(1, 1_000_000, {
    name: "max-audio-mb",
    default: 1024,
    to: (megabytes) => megabytes * 2 ** 20,
    help: "Maximum size of a recording, in MiB.",
  }),
  maxRealtimeSessions: integer(0, 10_000, {
    default: 16,
    help: "Maximum open sessions of /v1/realtime; at the limit, a silent session of a client with many makes way for one of another client, or the new one is refused with 503 server_busy.",
  }),
  transcribeInput: boolean({
    default: false,
    help: "Transcribe sound in messages to models without audio input: the text replaces the sound in the prompt, and the answer reports it.",
  }),
  ocrInput: boolean({
    default: false,
    help: "Recognise text in images in messages to models without image input: the text replaces the image in the prompt, and the answer reports it.",
  }),
  streaming: boolean({
    default: true,
    help: "Honour stream: true; --no-streaming answers such requests as plain JSON.",
  }),
  metricsNames: choice(["svc", "llamacpp"], {
    default: "svc",
    help: "Names of the metrics of text engines; llamacpp adds the names of llama.cpp's server to svc's own.",
  }),
  streamUsage: choice(["default", "requested"], {
    default: "default",
    help: "When a chat stream ends with a usage chunk. default: unless stream_options.include_usage is false. requested: only if stream_options.include_usage is true.",
  }),
  compatibilityApis: boolean({
    default: true,
    help: "Serve the compatibility APIs outside /v1: those of Ollama, llama.cpp and Stable Diffusion's web interface, and the routes of /v1 without that prefix.",
  }),
  heartbeatMs: seconds(0.1, DAY_S, {
    name: "heartbeat",
    default: 15,
    help: "Seconds of silence in a stream after which a comment line is sent to keep the connection alive.",
  }),
  maxQueue: integer(0, 100_000, {
    default: 256,
    help: "Maximum queued requests for each model; further requests are refused with 503 server_busy.",
  }),
  maxQueueTokens: integer(0, 1_000_000_000, {
    default: 1_000_000,
    help: "Maximum prompt tokens in the queue of each chat model; further requests are refused with 503 server_busy. A single prompt may queue whatever its length.",
  }),
  queueTimeoutMs: seconds(0, DAY_S, {
    name: "queue-timeout",
    default: 0,
    help: "Maximum seconds that an accepted request waits in the queue; then it fails with 503 server_busy. 0: no limit.",
  }),
  storedResponses: {
    count: integer(0, 1_000_000, {
      name: "stored-responses",
      default: 1024,
      help: "Maximum number of responses of /v1/responses stored in memory, and separately of conversations of /v1/conversations. Those that changed longest ago are evicted first.",
    }),
    bytes: integer(1, 1_000_000, {
      name: "stored-responses-mb",
      default: 256,
      to: (megabytes) => megabytes * 1_000_000,
      help: "Maximum memory of all stored responses, and separately of all conversations, in MB.",
    }),
  },
  files: {
    bytes: integer(1, 1_000_000, {
      name: "max-file-mb",
      default: 100,
      to: (megabytes) => megabytes * 2 ** 20,
      help: "Maximum size of a file uploaded to /v1/files, in MiB.",
    }),
    lines: integer(1, 100_000_000, {
      name: "max-batch-lines",
      default: 50_000,
      help: "Maximum requests per batch.",
    }),
    keepSeconds: integer(0, 36_500, {
      name: "keep-files",
      default: 30,
      to: daysToSeconds,
      help: "Default file retention, in days; 0: until they are deleted.",
    }),
    keepBatchSeconds: integer(0, 36_500, {
      name: "keep-batches",
      default: 30,
      to: daysToSeconds,
      help: "Batch retention after completion, in days; a batch is kept at least as long as its output file. 0: forever.",
    }),
  },
  batchEndpoints: boolean({
    default: false,
    help: "Accept batches for more than /v1/chat/completions: /v1/completions, /v1/responses, /v1/embeddings, /v1/audio/transcriptions and /v1/audio/translations.",
  }),
  loadTimeoutMs: seconds(0, DAY_S, {
    name: "load-timeout",
    default: 300,
    help: "Maximum seconds that a request waits for a model that is loading or restarting.",
  }),
  drainTimeoutMs: seconds(0, DAY_S, {
    name: "drain-timeout",
    default: 8,
    help: "Seconds after SIGTERM after which requests that are still running are cancelled.",
  }),
};
