// Opens live sessions, limits their number, and ends them with the server.

import type { Timers } from "../domain/clock.ts";
import type { CancelCause } from "../domain/cancel.ts";
import { shuttingDown, SvcError } from "../domain/errors.ts";
import type { LiveChanges, LiveEnd, LiveSettings } from "../domain/live.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import { LiveSession, type LiveListener } from "./live/session.ts";
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
  private readonly sessions = new Set<LiveSession>();

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
   * Opens a session with these settings. Throws SvcError `server_busy` or `shutting_down`.
   */
  open(origin: RequestOrigin, settings: LiveSettings, listener: LiveListener): LiveSession {
    const { transcriptions, requests, clock, maxSessions, maxSeconds } = this.deps;
    if (this.sessions.size >= maxSessions) {
      const message = `There are ${maxSessions} sessions already, which is as many as --max-realtime-sessions allows.`;
      throw new SvcError("server_busy", message, { retryAfterSeconds: RETRY_SECONDS });
    }
    const detach = requests.attach(origin, (cause) => {
      session.fail(endedBy(cause), END[cause]);
      return true;
    });
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
    this.sessions.add(session);
    return session;
  }

  /** Makes all sessions recognise the speech received so far, and end; resolves when they have. */
  async drain(): Promise<void> {
    const sessions = [...this.sessions];
    for (const session of sessions) session.finish("shutdown", endedBy("shutdown"));
    await Promise.all(sessions.map(({ ended }) => ended));
  }
}

const END: Readonly<Record<CancelCause, LiveEnd>> = {
  client: "closed",
  id: "closed",
  deadline: "limit",
  shutdown: "shutdown",
};

const endedBy = (cause: CancelCause): SvcError =>
  cause === "shutdown" ? shuttingDown() : new SvcError("request_cancelled", "The session was cancelled by its id.");
