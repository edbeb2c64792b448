// Opens live sessions, limits their number, and ends them with the server.

import type { Timers } from "../domain/clock.ts";
import type { CancelCause } from "../domain/cancel.ts";
import { shuttingDown, SvcError } from "../domain/errors.ts";
import type { LiveChanges, LiveEnd, LiveSettings } from "../domain/live.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import { LiveSession, type LiveListener } from "./live/session.ts";
import { givingWay } from "./giving-way.ts";
import { changed, usualSettings } from "./live/settings.ts";
import type { RequestService } from "./request.ts";
import type { TranscriptionService } from "./transcriptions.ts";

/** A fixed delay, because the end of a session cannot be predicted. */
const RETRY_SECONDS = 10;

interface RealtimeDeps {
  readonly transcriptions: TranscriptionService;
  readonly requests: Pick<RequestService, "attach">;
  readonly clock: Timers;
  readonly maxSessions: number;
  /** Maximum seconds of sound in a session. */
  readonly maxSeconds: number;
}

export class RealtimeService {
  /** Sessions with their clients. */
  private readonly sessions = new Map<LiveSession, string>();

  constructor(private readonly deps: RealtimeDeps) {}

  /** Number of sessions that have not ended. */
  get openCount(): number {
    return this.sessions.size;
  }

  /**
   * Returns the settings of a new session with these changes. Throws SvcError `unsupported_parameter`, `invalid_value`,
   * or `engine_unavailable` when there is no transcription model.
   */
  settings(changes: LiveChanges): LiveSettings {
    const { transcriptions } = this.deps;
    return changed(usualSettings(changes.model, transcriptions), changes, transcriptions, false);
  }

  /**
   * Opens a session with these settings. When there are too many, one without speech that is not text yet ends, the one
   * that is silent for the longest time, of a client that has more than its share while this one has less. Throws SvcError
   * `server_busy` or `shutting_down`.
   */
  open(origin: RequestOrigin, settings: LiveSettings, listener: LiveListener): LiveSession {
    const { transcriptions, requests, clock, maxSessions, maxSeconds } = this.deps;
    const { holder = "" } = origin;
    const isFull = this.sessions.size >= maxSessions;
    const leaving = isFull ? this.leaving(holder) : undefined;
    if (isFull && !leaving) {
      const message = `There are ${maxSessions} sessions already, which is as many as --max-realtime-sessions allows.`;
      throw new SvcError("server_busy", message, { retryAfterSeconds: RETRY_SECONDS });
    }
    const detach = requests.attach(origin, (cause) => {
      session.fail(endedBy(cause), END[cause]);
      return true;
    });
    leaving?.fail(makesWay(maxSessions), "limit");
    const onEnd = (how: LiveEnd) => {
      detach();
      this.sessions.delete(session);
      listener.onEnd(how);
    };
    const session: LiveSession = new LiveSession({
      transcriptions,
      clock,
      maxSeconds,
      origin,
      settings,
      emit: listener.emit,
      onEnd,
      onUnexpected: listener.onUnexpected,
    });
    this.sessions.set(session, holder);
    return session;
  }

  /** Makes all sessions recognise the speech received so far, and end; resolves when they have. */
  async drain(): Promise<void> {
    const sessions = [...this.sessions.keys()];
    for (const session of sessions) session.finish("shutdown", endedBy("shutdown"));
    await Promise.all(sessions.map(({ ended }) => ended));
  }

  /** Returns the session that makes way for one of `client`; undefined: none. */
  private leaving(client: string): LiveSession | undefined {
    const givers = givingWay(this.sessions.values(), client, this.deps.maxSessions);
    const silent = [...this.sessions]
      .filter(([session]) => !session.hasSpeech)
      .toSorted(([one], [other]) => one.lastAt - other.lastAt);
    const [longest] = givers.flatMap((giver) => silent.filter(([, holder]) => holder === giver));
    return longest?.[0];
  }
}

const END: Readonly<Record<CancelCause, LiveEnd>> = {
  client: "closed",
  id: "closed",
  deadline: "limit",
  shutdown: "shutdown",
};

function makesWay(most: number): SvcError {
  const message = `All ${most} sessions (--max-realtime-sessions) were in use, and another client needed one: the session ends.`;
  return new SvcError("rate_limit_exceeded", message);
}

const endedBy = (cause: CancelCause): SvcError =>
  cause === "shutdown" ? shuttingDown() : new SvcError("request_cancelled", "The session was cancelled by its id.");
