// How every API's SDK handles refusals, a full server, an engine crash, and its own disconnect. The official SDKs are
// structured alike, so one file covers all of them.

import { check, equal, ok, untilIdle } from "./checks.ts";
import { failure } from "./sdk.ts";

/** An exception of an SDK; `status` is undefined when there was no response. */
interface ApiError extends Error {
  readonly status: number | undefined;
  readonly headers: Headers | Readonly<Record<string, string | null | undefined>> | undefined;
}
type Kind<Thrown extends Error = ApiError> = abstract new (...parameters: never[]) => Thrown;

interface Options {
  readonly signal?: AbortSignal;
}

interface Stream extends AsyncIterable<object> {
  readonly controller: AbortController;
}

export interface FailingDialect {
  readonly errors: Readonly<
    Record<"APIError" | "APIUserAbortError" | "BadRequestError" | "NotFoundError" | "InternalServerError", Kind>
  >;
  /** Sends a prompt that gets a long answer; `extra` are fields of the API. */
  ask(server: Server, prompt: string, extra?: object, options?: Options): PromiseLike<unknown>;
  stream(server: Server, prompt: string): PromiseLike<Stream>;
  /** A field with an invalid value. */
  readonly wrong: object;
  /** Sends a request to a path that does not exist. */
  lost(): PromiseLike<unknown>;
  /** Returns the field, the code and the request id of an exception. */
  detailsOf(error: unknown): { readonly param: unknown; readonly code: unknown; readonly requestId: unknown };
  /** The type of the event with which a stream reports a failure; absent when it is an exception. */
  readonly failedEvent?: string;
}

export type Server = "client" | "endless" | "narrow";

const STORY = "abcd efgh";
/** Above the limit of 100 MB for a body. */
const HUGE = "x".repeat(101 * 1024 * 1024);

export async function failureChecks(dialect: FailingDialect): Promise<void> {
  await refusalChecks(dialect);
  await interruptionChecks(dialect);
}

async function refusalChecks(dialect: FailingDialect): Promise<void> {
  const { errors, ask, detailsOf } = dialect;

  await check("a wrong value is BadRequestError, and names its field", async () => {
    const error = await failure(() => ask("client", "Hello!", dialect.wrong), errors.BadRequestError);
    equal(error.status, 400);
    const { param, code, requestId } = detailsOf(error);
    equal(param, Object.keys(dialect.wrong)[0]);
    ok(code === "invalid_value" || code === "invalid_type", `${code}`);
    ok(requestId, "no request id");
  });

  await check("a prompt over the context is BadRequestError context_length_exceeded", async () => {
    const error = await failure(() => ask("client", "hello ".repeat(60_000)), errors.BadRequestError);
    equal(detailsOf(error).code, "context_length_exceeded");
  });

  await check("what is not there is NotFoundError", async () => {
    equal((await failure(() => dialect.lost(), errors.NotFoundError)).status, 404);
  });

  await check("a body over the limit is an APIError with status 413", async () => {
    const error = await failure(() => ask("client", HUGE), errors.APIError);
    equal(error.status, 413);
    equal(detailsOf(error).code, "payload_too_large");
  });

  await check("a full server is InternalServerError with status 503, and says when to come back", async () => {
    const busy = await dialect.stream("narrow", STORY);
    for await (const _ of busy) {
      const error = await failure(() => ask("narrow", STORY), errors.InternalServerError);
      equal(error.status, 503);
      equal(detailsOf(error).code, "server_busy");
      const headers = error.headers instanceof Headers ? Object.fromEntries(error.headers) : error.headers;
      ok(Number(headers?.["retry-after"]) >= 1, "no retry-after");
      break;
    }
    busy.controller.abort();
    await untilIdle("NARROW_URL");
  });
}

async function interruptionChecks(dialect: FailingDialect): Promise<void> {
  const { errors } = dialect;

  await check("an engine that dies while it streams is told", async () => {
    let last: object | undefined;
    let events = 0;
    const read = async () => {
      for await (const event of await dialect.stream("narrow", STORY)) {
        // Before there is text, the next engine could answer instead.
        if (++events === 20)
          ok((await fetch(process.env["CRASH_URL"] ?? "", { method: "POST" })).ok, "no engine to end");
        last = event;
      }
    };
    if (dialect.failedEvent === undefined) {
      const error = await failure(read, errors.APIError);
      equal(dialect.detailsOf(error).code, "engine_crashed");
    } else {
      await read();
      equal(Reflect.get(last ?? {}, "type"), dialect.failedEvent);
    }
    await untilRestarted();
    await untilIdle("NARROW_URL");
  });

  await check("aborting a stream ends its work on the server", async () => {
    const stream = await dialect.stream("endless", STORY);
    for await (const _ of stream) break;
    stream.controller.abort();
    await untilIdle();
  });

  await check("aborting a call that is not streamed ends its work on the server", async () => {
    const abort = new AbortController();
    const call = dialect.ask("endless", STORY, {}, { signal: abort.signal });
    setTimeout(() => abort.abort(), 300);
    await failure(() => call, errors.APIUserAbortError);
    await untilIdle();
  });
}

/** Waits until the killed engine has restarted; throws after a minute. */
async function untilRestarted(): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const health = (await (await fetch(`${process.env["NARROW_URL"]}/health`)).json()) as {
      readonly engine: { readonly state: string };
    };
    if (health.engine.state === "ready") return;
    if (Date.now() > deadline) throw new Error(`the engine is ${health.engine.state}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
