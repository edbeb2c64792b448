import type { LogFields, Logger } from "../../src/telemetry/log.ts";

/** Keeps what is logged. */
export class RecordingLog implements Logger {
  readonly lines: { level: string; message: string; fields: LogFields }[] = [];
  private add(level: string, message: string, fields: LogFields = {}): void {
    this.lines.push({ level, message, fields });
  }
  debug(message: string, fields?: LogFields): void {
    this.add("debug", message, fields);
  }
  verbose(message: string, fields?: LogFields): void {
    this.add("verbose", message, fields);
  }
  info(message: string, fields?: LogFields): void {
    this.add("info", message, fields);
  }
  warn(message: string, fields?: LogFields): void {
    this.add("warn", message, fields);
  }
  error(message: string, fields?: LogFields): void {
    this.add("error", message, fields);
  }
}
