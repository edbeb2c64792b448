// Starts a real server on a free port with a scripted engine, and records everything that the server reports.

import { readdirSync } from "node:fs";
import { onTestFinished } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { ByteBudget } from "../../src/domain/byte-budget.ts";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { pause } from "../../src/domain/pause.ts";
import { FakeEngine, type FakeScript } from "../support/fake-text-engine.ts";
import { NoEngine } from "../../src/engine/text/none.ts";
import type { ObservedEngine } from "../../src/engine/process/status.ts";
import { FakeEmbedder } from "../support/fake-embedding-engine.ts";
import { FakeDrawer } from "../support/fake-image-engine.ts";
import { FakeReader } from "../support/fake-recognition-engine.ts";
import { FakeSpeaker } from "../support/fake-speech-engine.ts";
import { FakeTranscriber } from "../support/fake-transcription-engine.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { createApp, type App } from "../../src/http/app.ts";
import { listen, type RunningServer } from "../../src/http/server.ts";
import { localRouter } from "../../src/service/local-model.ts";
import {
  offeredEmbeddings,
  offeredImages,
  offeredUpscaling,
  OfferedModels,
  offeredRecognition,
  offeredSpeech,
  offeredTranscription,
} from "../../src/service/offered-models.ts";
import { uploadFolders } from "../../src/store/upload-folders.ts";
import { ModelRouter, type ModelSource } from "../../src/service/model-router.ts";
import { modelServices, type ModelServices } from "../../src/service/model-services.ts";
import { RequestService } from "../../src/service/request.ts";
import { TextLanguages } from "../../src/service/text-languages.ts";
import type { JobLevels, MetricLevels, Metrics, MetricSubject, RequestMetrics } from "../../src/telemetry/metrics.ts";
import { temporaryFolder } from "../support/folders.ts";
import { post as postJson } from "../support/post.ts";
import { RecordingLog } from "../support/recording-log.ts";
import { testStore } from "../support/stored-models.ts";
import { TestClock } from "../support/test-clock.ts";

const defaults = resolveConfig([], { HOME: "/nonexistent" });
/** The defaults, on a free port, with small limits and short times. */
export const testConfig: Config = {
  ...defaults,
  gateway: { ...defaults.gateway, timeoutMs: 5000 },
  hostVoices: false,
  maxAudioBytes: 100_000,
  maxRealtimeSessions: 4,
  port: 0,
  drainTimeoutMs: 50,
  loadTimeoutMs: 1000,
  maxQueue: 8,
  parallel: 4,
  gpuLayers: 0,
  warmup: false,
  idleUnloadMs: 0,
  storedResponses: { count: 100, bytes: 1_000_000 },
  mediaFetchPrivate: true,
  logFormat: "json",
  cacheDir: "/nonexistent",
  modelsDir: "/nonexistent/models",
  dataDir: "/nonexistent",
  dataSize: 1000,
  files: { bytes: 1_000_000, lines: 1000, keepSeconds: null, keepBatchSeconds: null },
};

/** Records every metric call as a line, and connections as a gauge. */
export class RecordingMetrics implements Metrics {
  connections = 0;
  /** The job levels of the last scrape. */
  jobs: JobLevels | undefined;
  readonly calls: string[] = [];
  /** Route and status of every answered request. */
  readonly answered: string[] = [];
  connectionOpened(): void {
    this.connections++;
  }
  connectionClosed(): void {
    this.connections--;
  }
  requestEnded(route: string, status: number, apiKey?: string): void {
    this.answered.push(`${route} ${status}${apiKey === undefined ? "" : ` ${apiKey}`}`);
  }
  /** Prefixes the calls for kinds other than text with the kind. */
  of({ kind }: MetricSubject): RequestMetrics {
    const call = (line: string) => void this.calls.push(kind === "text" ? line : `${kind} ${line}`);
    return {
      started: () => call("started"),
      adapterChosen: (name) => call(`adapter ${name}`),
      firstToken: () => call("first"),
      interToken: () => call("inter"),
      finished: (reason) => call(`finished ${reason}`),
      failed: (code) => call(`failed ${code}`),
      rejected: (reason) => call(`rejected ${reason}`),
    };
  }
  batchLineEnded(outcome: string): void {
    this.calls.push(`line ${outcome}`);
  }
  render({ jobs }: MetricLevels): string {
    this.jobs = jobs;
    return "";
  }
}

export interface TestServer extends RunningServer, ModelServices {
  readonly engine: FakeEngine;
  /** The engines that /health and /metrics report; a test can add some. */
  readonly engines: ObservedEngine[];
  /** One engine for embeddings and one for scores. */
  readonly embedders: readonly FakeEmbedder[];
  readonly transcriber: FakeTranscriber;
  readonly speaker: FakeSpeaker;
  readonly reader: FakeReader;
  readonly drawer: FakeDrawer;
  /** Offered when the configuration names an upscaling model. */
  readonly upscaler: FakeDrawer;
  /** The folder for uploaded recordings, documents and pictures. */
  readonly recordings: string;
  readonly metrics: RecordingMetrics;
  readonly log: RecordingLog;
  readonly clock: TestClock;
  readonly rehearse: App["rehearse"];
  readonly routes: App["routes"];
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  chat(body: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
}

/** Returns a gateway without upstreams. */
export const noUpstreams = () => new Gateway({ configured: [], clock: new TestClock(), log: new RecordingLog() });

export const hello: FakeScript = { steps: [{ text: "Hel" }, { text: "lo" }] };
export const messages = [{ role: "user", content: "hi" }];

/** Starts a server that is stopped at the end of the test. Its batches retry up to twenty times without waiting. */
export function serve(
  script: FakeScript | ((request: GenerateRequest) => FakeScript) = hello,
  overrides: Partial<Config> = {},
  beside: readonly ModelSource[] = [],
  hubEndpoint?: string,
  bodyBudget?: ByteBudget,
): TestServer {
  let server: RunningServer | undefined;
  onTestFinished(() => server?.stop());
  const dataDir = temporaryFolder();
  const config = { ...testConfig, dataDir, ...overrides };
  const engine = new FakeEngine(typeof script === "function" ? script : () => script);
  engine.adapters = config.lora.map((adapter) => ({
    ...adapter,
    bytes: 1,
    created: 2,
    taskName: "",
    promptPrefix: "",
  }));
  const metrics = new RecordingMetrics();
  const log = new RecordingLog();
  const clock = new TestClock();
  const { parallel, maxQueue, queueTimeoutMs } = config;
  const embedders = [new FakeEmbedder("fake-embedding"), new FakeEmbedder("fake-reranker", "rank")];
  const transcriber = new FakeTranscriber("fake-whisper");
  const speaker = new FakeSpeaker("fake-voice");
  const reader = new FakeReader("fake-reader");
  const drawer = new FakeDrawer("fake-drawer");
  const upscaler = new FakeDrawer("fake-upscaler");
  const offered = [
    ...embedders.map((embedder) => offeredEmbeddings(embedder, parallel)),
    offeredTranscription(transcriber, parallel),
    offeredSpeech(speaker, parallel),
    offeredRecognition(reader, parallel),
    offeredImages(drawer),
    ...(config.imageUpscaleModels.length > 0 ? [offeredUpscaling(upscaler)] : []),
  ];
  const sources = [new OfferedModels(offered), ...beside];
  const router = config.serveModel
    ? localRouter(
        engine,
        parallel,
        sources,
        { image: config.ocrInput, audio: config.transcribeInput },
        config.alias.slice(1),
      )
    : new ModelRouter(sources);
  const subject = { kind: "text", model: "fake-model" };
  const requests = new RequestService({ metrics, clock, maxQueue, queueTimeoutMs, subject });
  const recordings = temporaryFolder();
  const folders = uploadFolders(recordings, config.maxAudioBytes, new ByteBudget());
  const languages = new TextLanguages({
    tessdata: reader.tessdata,
    ppocr: config.ocrEngine === "ppocr",
    usual: config.ocrLanguages,
  });
  const services = modelServices({ config, clock, router, requests, folders, languages });
  onTestFinished(() => services.images.close());
  const engines: ObservedEngine[] = [];
  const storedModels = testStore(config, hubEndpoint);
  const app = createApp({
    ...services,
    config,
    storedModels,
    engine: config.serveModel ? engine : new NoEngine(),
    engines: () => engines,
    upstreams: beside.find((source) => source instanceof Gateway) ?? noUpstreams(),
    metrics,
    log,
    clock,
    pause: (ms, signal) => pause(ms / 20, signal),
    ...(bodyBudget && { bodyBudget }),
    version: "0.0.0-test",
  });
  server = listen(app, config, { requests, clock });
  app.batches.start();
  app.batches.takeOver();
  const post: TestServer["post"] = (path, body, headers) => postJson(server.url + path, body, { headers });
  return {
    ...server,
    ...services,
    engine,
    engines,
    embedders,
    transcriber,
    speaker,
    reader,
    drawer,
    upscaler,
    recordings,
    metrics,
    log,
    clock,
    rehearse: app.rehearse,
    routes: app.routes,
    post,
    chat: (body, headers) => post("/v1/chat/completions", { messages, ...body }, headers),
  };
}

/** Returns the names of the uploaded files that are still there. */
export const leftovers = ({ recordings }: TestServer): string[] =>
  readdirSync(recordings, { recursive: true, withFileTypes: true }).flatMap((one) =>
    one.isFile() && /^\d/.test(one.name) ? one.name : [],
  );

/** Returns whether the server refuses new requests because it is stopping. */
export function isDraining({ requests }: TestServer): boolean {
  try {
    requests.attach({ id: "" }, () => false)();
    return false;
  } catch {
    return true;
  }
}
