// A client of /v1/realtime as users would write it: the platform's WebSocket with JSON in both directions.

export interface RealtimeEvent {
  readonly type: string;
  readonly event_id: string;
  readonly item_id?: string;
  readonly delta?: string;
  readonly transcript?: string;
  readonly error?: {
    readonly type: string;
    readonly code: string;
    readonly message: string;
    readonly param: string | null;
    readonly event_id?: string | null;
  };
  readonly session?: unknown;
  readonly [field: string]: unknown;
}

export interface Closing {
  readonly code: number;
  readonly reason: string;
}

interface Options {
  readonly query?: string;
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

const TRANSCRIPTION = "conversation.item.input_audio_transcription";
const PATIENCE_MS = 30_000;

export class RealtimeClient {
  /** All events received, in order. */
  readonly events: RealtimeEvent[] = [];
  closing: Closing | undefined;
  private read = 0;
  private wake: () => void = () => {};

  private constructor(readonly socket: WebSocket) {
    socket.onmessage = ({ data }) => {
      this.events.push(JSON.parse(String(data)));
      this.wake();
    };
    socket.onclose = ({ code, reason }) => {
      this.closing = { code, reason };
      this.wake();
    };
  }

  /** Connects to the server at this address. Rejects when the connection is refused. */
  static async open(
    url: string,
    { query = "?intent=transcription", protocols, headers }: Options = {},
  ): Promise<RealtimeClient> {
    const options = { ...(protocols && { protocols: [...protocols] }), ...(headers && { headers }) };
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/realtime${query}`, options as never);
    const client = new RealtimeClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error("the connection was refused"));
    });
    socket.onerror = null;
    return client;
  }

  send(event: object | string): void {
    this.socket.send(typeof event === "string" ? event : JSON.stringify(event));
  }

  append(bytes: Uint8Array, event: object = {}): void {
    this.send({ type: "input_audio_buffer.append", audio: Buffer.from(bytes).toString("base64"), ...event });
  }

  commit(event: object = {}): void {
    this.send({ type: "input_audio_buffer.commit", ...event });
  }

  /** Changes the settings of the input sound. */
  set(input: object, event: object = {}): void {
    this.send({ type: "session.update", session: { type: "transcription", audio: { input } }, ...event });
  }

  /** Returns the next event of this type that no earlier call has consumed, and skips the events before it. */
  async next(type: string): Promise<RealtimeEvent> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      for (const event of this.events.slice(this.read)) {
        this.read++;
        if (event.type === type) return event;
      }
      if (this.closing || performance.now() > deadline) {
        const told = this.events.map((event) => event.type).join(", ");
        throw new Error(`no ${type}; closed with ${this.closing?.code}; told: ${told}`);
      }
      await this.news();
    }
  }

  completed = (): Promise<RealtimeEvent> => this.next(`${TRANSCRIPTION}.completed`);
  failed = (): Promise<RealtimeEvent> => this.next(`${TRANSCRIPTION}.failed`);

  /** Returns the error of the next `error` event. */
  async error(): Promise<NonNullable<RealtimeEvent["error"]>> {
    const { error } = await this.next("error");
    if (!error) throw new Error("an error event without error");
    return error;
  }

  /** Waits until the connection is closed and returns how it was closed. */
  async closed(): Promise<Closing> {
    while (!this.closing) await this.news();
    return this.closing;
  }

  close(): void {
    this.socket.close(1000);
  }

  private news(): Promise<unknown> {
    return Promise.race([new Promise<void>((resolve) => (this.wake = resolve)), Bun.sleep(200)]);
  }
}
