// svc's own HTTP application on a free port, with an engine that plays the model as each check specifies.

import { tmpdir } from "node:os";
import { resolveConfig } from "../../src/config/resolve.ts";
import { ByteBudget } from "../../src/domain/byte-budget.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { exceeding } from "../../src/domain/prompt-size.ts";
import { FakeEngine, fakeModel, type FakeScript, type FakeStep } from "../support/fake-text-engine.ts";
import { createApp } from "../../src/http/app.ts";
import { listen, type RunningServer } from "../../src/http/server.ts";
import { localRouter } from "../../src/service/local-model.ts";
import { modelServices } from "../../src/service/model-services.ts";
import { Tessdata } from "../../src/store/tessdata.ts";
import { uploadFolders } from "../../src/store/upload-folders.ts";
import { RequestService } from "../../src/service/request.ts";
import { TextLanguages } from "../../src/service/text-languages.ts";
import { createLogger } from "../../src/telemetry/log.ts";
import { PrometheusMetrics } from "../../src/telemetry/prometheus.ts";
import { noUpstreams } from "../http/harness.ts";
import { testStore } from "../support/stored-models.ts";
import { toolCall } from "../support/tool-call.ts";
import { Exchanges } from "./exchanges.ts";

/** Returns the model's answer to a request. */
export type Turn = (request: GenerateRequest) => FakeScript;

const THOUGHT: FakeStep = { type: "reasoning", text: "I think about it." };
/** Large enough that no agent compacts the conversation on its own. */
const CONTEXT = 200_000;

/** Answers with reasoning, then these words. */
export const say =
  (...words: string[]): Turn =>
  () => ({ steps: [THOUGHT, ...words.map((text) => ({ text }))] });

/** Answers with reasoning, some words, then calls. */
export const call = (...calls: readonly { readonly name: string; readonly arguments: object }[]): Turn => {
  const id = (index: number) => `call_${index}_${crypto.randomUUID().slice(0, 8)}`;
  const events = calls.flatMap((one, index) => toolCall(one.name, [JSON.stringify(one.arguments)], index, id(index)));
  return () => ({ reason: "tool_calls", steps: [THOUGHT, { text: "Let me see." }, ...events] });
};

/** Refuses a prompt as too long, with the engine's own message. */
export const tooLong: Turn = () => {
  const message = `${exceeding(70_000, 65_536)}.`;
  return { steps: [{ fail: new SvcError("context_length_exceeded", message, { param: "messages" }) }, "accept"] };
};

/** Repeats the results of this turn's tools, which the model could not know otherwise. */
export const tell: Turn = (request) => {
  const last = request.messages.findLastIndex(({ role }) => role === "assistant");
  const results = request.messages.slice(last + 1).filter(({ role }) => role === "tool");
  return say(`The tools say: ${results.map(({ content }) => JSON.stringify(content)).join(" ")}`)(request);
};

export class ScriptedModel {
  readonly exchanges = new Exchanges();
  readonly engine: FakeEngine;
  private readonly server: RunningServer;
  private turns: Turn[] = [];
  /** Answers requests outside the conversation, without tools, for example for its title. */
  private aside: Turn | undefined;

  constructor() {
    this.engine = new FakeEngine((request) => {
      const turn = request.tools.length === 0 && this.aside ? this.aside : this.turns.shift();
      if (!turn) throw new Error("the model was asked once more than this check expects");
      return turn(request);
    });
    this.engine.model = { ...fakeModel, vision: true, context: CONTEXT, maxModelLen: CONTEXT };
    const config = { ...resolveConfig([], {}), port: 0 };
    const clock = systemClock;
    const metrics = new PrometheusMetrics(clock);
    const write = (line: string) => process.stderr.write(line);
    const log = createLogger({ level: "warn", format: "text", write, now: clock.wall });
    const { engine } = this;
    const router = localRouter(engine, 4);
    const subject = { kind: "text", model: fakeModel.id };
    const requests = new RequestService({ metrics, clock, maxQueue: 8, queueTimeoutMs: 0, subject });
    const folders = uploadFolders(tmpdir(), config.maxAudioBytes, new ByteBudget());
    const languages = new TextLanguages({ tessdata: new Tessdata([]) });
    const app = createApp({
      ...modelServices({ config, clock, router, requests, folders, languages }),
      config,
      engine,
      engines: () => [],
      upstreams: noUpstreams(),
      storedModels: testStore(config),
      metrics,
      log,
      clock,
      version: "0.0.0-test",
    });
    this.server = listen({ ...app, fetch: this.exchanges.record(app.fetch) }, config, { requests, clock });
  }

  get url(): string {
    return this.server.url;
  }

  /** Sets the next answers, in order, and forgets earlier requests. */
  play(...turns: Turn[]): void {
    this.turns = turns;
    this.aside = undefined;
    this.engine.requests.length = 0;
    this.engine.aborted.length = 0;
    this.exchanges.take();
  }

  /** Sets the answer to all requests without tools, until the next answers are set. */
  playAside(turn: Turn): void {
    this.aside = turn;
  }

  /** Throws unless every answer was requested. */
  allPlayed(): void {
    if (this.turns.length > 0) throw new Error(`${this.turns.length} answers were not asked for`);
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}
