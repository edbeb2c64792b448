// Converts the pieces of an upstream's tool calls to events, one call after the other. A call is held until part of its
// arguments confirms it, and until the call before it is complete: servers may interleave the pieces of numbered calls.
// What comes between the pieces of a call follows the call: in a stream, nothing may interrupt it.

import type { OutputEvent } from "../domain/generate.ts";
import { newToolCallId } from "../domain/ids.ts";
import { JsonBounds } from "../domain/json-bounds.ts";
import type { CallPiece } from "./output.ts";
import { wrongAnswer } from "./upstream-failure.ts";

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
  /** Follows the arguments to their end. */
  readonly json: JsonBounds;
}

const NO_ARGUMENTS = "{}";

export class ToolCalls {
  /** The calls by the server's numbers. */
  private readonly calls = new Map<number, Call>();
  private readonly inOrder: Call[] = [];
  /** How many calls are sent; only the last of them may still get arguments. */
  private sent = 0;
  /** Text and reasoning that came within the last sent call. */
  private readonly within: OutputEvent[] = [];
  /** Whether text or reasoning has followed the last sent call, so that it gets no more arguments. */
  private isPast = false;
  /** Whether a further call was left out, so that the answer has all that was requested. */
  isCut = false;

  constructor(private readonly options: ToolCallOptions) {}

  get count(): number {
    return this.inOrder.length;
  }

  /** Adds text or reasoning, which waits for the end of a call that it would interrupt. */
  say(event: OutputEvent, added: OutputEvent[]): void {
    this.within.push(event);
    if (!this.isOpen) this.release(added);
  }

  /**
   * Adds the events of a piece. Throws UpstreamFailure about a call that the client did not allow, and about a piece that
   * belongs to no call.
   */
  add(piece: CallPiece, added: OutputEvent[]): void {
    // With tool choice `none`, the client would not answer the call.
    if (this.isCut || this.options.callable?.size === 0) return;
    const { index, arguments: json } = piece;
    if (this.begins(piece)) this.begin(piece);
    if (json === "") return;
    const call = index === undefined ? this.inOrder.at(-1) : this.calls.get(index);
    if (!call) throw wrongAnswer("sent a part of a tool call that it had not begun");
    call.json.push(Buffer.from(json));
    if (call.index === this.sent - 1) {
      if (!this.isPast) added.push({ type: "tool_arguments", index: call.index, text: json });
    } else if (call.index >= this.sent && (call.held !== "" || json.trim() !== "")) call.held += json;
    while (this.inOrder[this.sent]?.held && !this.isOpen && !this.isCut) this.sendNext(added);
    if (!this.isOpen) this.release(added);
  }

  /** Whether the last sent call lacks a part of its arguments. */
  private get isOpen(): boolean {
    return this.inOrder[this.sent - 1]?.json.isOpen === true;
  }

  /** Adds the text and reasoning that waits. */
  release(added: OutputEvent[]): void {
    if (this.within.length === 0) return;
    for (const event of this.within.splice(0)) added.push(event);
    this.isPast = true;
  }

  /** Returns whether the piece is the first of its call. An id alone says nothing: some servers invent one per piece. */
  private begins({ index, id, name }: CallPiece): boolean {
    if (name === undefined) return false;
    const known = index === undefined ? undefined : this.calls.get(index);
    // Some servers send complete calls, each with the number 0.
    return !known || (id !== undefined && known.id !== undefined && id !== known.id);
  }

  private begin({ index, id, name = "" }: CallPiece): void {
    // Only numbered calls are interleaved: the call before has ended, even if its arguments have not.
    if (index === undefined) this.inOrder.at(-1)?.json.next();
    const call = { index: this.count, name, id, held: "", json: new JsonBounds(Infinity, Infinity) };
    this.calls.set(index ?? this.count, call);
    this.inOrder.push(call);
  }

  /** Drops a call without arguments where the answer was cut off: more of it may be missing. */
  cutOff(): void {
    if (this.inOrder.at(-1)?.held === "" && this.sent < this.count) this.inOrder.pop();
  }

  /** Sends all that is held, with an empty object where arguments are missing, because clients parse them as JSON. */
  end(added: OutputEvent[]): void {
    this.release(added);
    while (!this.isCut && this.sent < this.count) this.sendNext(added);
  }

  /** Sends the next call with its held arguments, or cuts the answer there. */
  private sendNext(added: OutputEvent[]): void {
    const call = this.inOrder[this.sent];
    if (!call) return;
    this.release(added);
    this.isPast = false;
    if (this.sent > 0 && !this.options.parallelToolCalls) return void (this.isCut = true);
    const { index, name, id = newToolCallId(), held } = call;
    const text = held || NO_ARGUMENTS;
    call.held = "";
    this.sent++;
    if (this.options.callable?.has(name) === false) throw wrongAnswer("called another tool than the requested one");
    if (!text.trimStart().startsWith("{")) throw wrongAnswer("called a tool with arguments that are not a JSON object");
    added.push({ type: "tool_call", index, id, name }, { type: "tool_arguments", index, text });
  }
}
