// Converts the pieces of an upstream's tool calls to events, calls in their order. Servers may interleave the pieces of
// several calls. A call is held until part of its arguments confirms it, and until the calls before it are confirmed.

import type { OutputEvent } from "../domain/generate.ts";
import { newToolCallId } from "../domain/ids.ts";
import type { CallPiece } from "./output.ts";
import { wrongCall } from "./upstream-failure.ts";

export interface ToolCallOptions {
  /** Tools that the answer may call; absent: even an invented name goes to the client, as with any other server. */
  readonly callable?: ReadonlySet<string>;
  /** false: the answer is cut before a second call. */
  readonly parallelToolCalls: boolean;
}

interface Call {
  readonly index: number;
  readonly name: string;
  /** The server's id. */
  readonly id: string | undefined;
  /** Arguments that are not sent yet. */
  held: string;
}

const NO_ARGUMENTS = "{}";

export class ToolCalls {
  /** The calls by the server's numbers. */
  private readonly calls = new Map<number, Call>();
  private readonly inOrder: Call[] = [];
  /** How many calls are confirmed and sent. */
  private sent = 0;
  /** Whether a further call was left out, so that the answer has all that was requested. */
  isCut = false;

  constructor(private readonly options: ToolCallOptions) {}

  get count(): number {
    return this.inOrder.length;
  }

  /** Adds the events of a piece. Throws UpstreamFailure about a call that the client did not allow. */
  add({ index: given, id, name, arguments: json }: CallPiece, added: OutputEvent[]): void {
    const number = given ?? this.count;
    const known = this.calls.get(number);
    // Some servers send complete calls, each with the number 0.
    const isNew = !known || (id !== undefined && known.id !== undefined && id !== known.id);
    if (isNew && name === undefined) return;
    if (isNew) {
      if (this.count > 0 && !this.options.parallelToolCalls) {
        this.end(added);
        this.isCut = true;
        return;
      }
      // With tool choice `none`, the client would not answer the call.
      if (this.options.callable?.size === 0) return;
      const call = { index: this.count, name: name ?? "", id, held: "" };
      this.calls.set(number, call);
      this.inOrder.push(call);
    }
    const call = this.calls.get(number);
    if (!call || json === "") return;
    if (call.index < this.sent) added.push({ type: "tool_arguments", index: call.index, text: json });
    else if (call.held !== "" || json.trim() !== "") call.held += json;
    while (this.inOrder[this.sent]?.held) this.sendNext(added);
  }

  /** Drops a call without arguments where the answer was cut off: more of it may be missing. */
  cutOff(): void {
    if (this.inOrder.at(-1)?.held === "" && this.sent < this.count) this.inOrder.pop();
  }

  /** Sends the held calls, with an empty object where arguments are missing, because clients parse them as JSON. */
  end(added: OutputEvent[]): void {
    while (this.sent < this.count) this.sendNext(added);
  }

  private sendNext(added: OutputEvent[]): void {
    const call = this.inOrder[this.sent];
    if (!call) return;
    const { index, name, id = newToolCallId(), held } = call;
    const text = held || NO_ARGUMENTS;
    call.held = "";
    this.sent++;
    if (this.options.callable?.has(name) === false) throw wrongCall("called another tool than the requested one");
    if (!text.trimStart().startsWith("{")) throw wrongCall("called a tool with arguments that are no JSON object");
    added.push({ type: "tool_call", index, id, name }, { type: "tool_arguments", index, text });
  }
}
