// Records the requests of an agent and the parts of svc's answers that checks look at.

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly status: number;
  /** The body of a refusal; otherwise empty. */
  readonly error: string;
}

type Serve = (request: Request) => Promise<Response>;

export class Exchanges {
  private list: Exchange[] = [];

  /** Returns the same request handler, which now records every exchange. */
  record(serve: Serve): Serve {
    return async (request) => {
      const body = await request.clone().text();
      const { pathname, search } = new URL(request.url);
      const response = await serve(request);
      const error = response.ok ? "" : await response.clone().text();
      this.list.push({ method: request.method, path: pathname + search, body, status: response.status, error });
      return response;
    };
  }

  /** Returns all exchanges since the last call. */
  take(): readonly Exchange[] {
    const taken = this.list;
    this.list = [];
    return taken;
  }
}

/** Throws when svc refused any request, or got none. */
export function allServed(exchanges: readonly Exchange[]): void {
  const refused = exchanges.filter(({ status }) => status >= 400);
  const lines = refused.map(({ method, path, status, error }) => `${method} ${path}: ${status} ${error}`);
  if (lines.length > 0) throw new Error(lines.join("\n      "));
  if (exchanges.length === 0) throw new Error("nothing was asked");
}
