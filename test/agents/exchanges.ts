// What an agent and svc said to each other, as far as the checks look at it.

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly status: number;
  /** Of a refusal: its body. */
  readonly error: string;
}

type Serve = (request: Request) => Promise<Response>;

export class Exchanges {
  private list: Exchange[] = [];

  /** The same server with every exchange written down. */
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

  /** Everything since the last call. */
  take(): readonly Exchange[] {
    const taken = this.list;
    this.list = [];
    return taken;
  }
}

/** Throws when svc refused anything. */
export function allServed(exchanges: readonly Exchange[]): void {
  const refused = exchanges.filter(({ status }) => status >= 400);
  const lines = refused.map(({ method, path, status, error }) => `${method} ${path}: ${status} ${error}`);
  if (lines.length > 0) throw new Error(lines.join("\n      "));
  if (exchanges.length === 0) throw new Error("nothing was asked");
}
