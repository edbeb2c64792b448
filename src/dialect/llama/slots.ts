// Decodes actions on slots and encodes their results, in the form of llama.cpp's server.

import { checker } from "../../contract/schema.ts";
import { SLOT_ACTIONS, SlotFile, type SlotAnswer } from "../../contract/slots.ts";
import { fieldError, type SvcError } from "../../domain/errors.ts";
import type { SlotAction, SlotOutcome } from "../../domain/slots.ts";

type Action = SlotAction["type"];

const checkFile = checker(SlotFile);

const LONGEST_NAME = 255;
/** Names that usual file systems do not allow, or that would leave the folder or hide the file. */
// eslint-disable-next-line no-control-regex
const UNUSABLE = /[\u0000-\u001f\u007f/\\:*?"<>|]|^\.|[. ]$|^ /;

/** Returns the slot and the action, from path and query. Throws SvcError `invalid_value`. */
export function decodeSlot(id: string | null, action: string | null): { readonly slot: number; readonly type: Action } {
  if (!/^\d{1,9}$/.test(id ?? "")) throw invalid("id_slot", "must be a whole number from 0 to 999999999");
  const type = SLOT_ACTIONS.find((known) => known === action);
  if (type) return { slot: Number(id), type };
  throw invalid("action", `must be one of ${SLOT_ACTIONS.join(", ")}, in the query of the address`);
}

/** Returns the file name in a body. Throws SvcError with a code of the 400 family. */
export function decodeSlotFile(body: unknown): string {
  const { filename } = checkFile(body);
  const bytes = Buffer.byteLength(filename);
  if (bytes > LONGEST_NAME) throw invalid("filename", `may have ${LONGEST_NAME} bytes; got ${bytes}`);
  if (!UNUSABLE.test(filename) && filename.isWellFormed()) return filename;
  const rule = `must be a plain file name: no / \\ : * ? " < > | and no control characters, no dot or space at its beginning or end`;
  throw invalid("filename", rule);
}

export function encodeSlot(action: SlotAction, { tokens, bytes, ms }: SlotOutcome): SlotAnswer {
  const slot = { id_slot: action.slot };
  const rounded = Math.round(ms * 1000) / 1000;
  if (action.type === "erase") return { ...slot, n_erased: tokens };
  const named = { ...slot, filename: action.filename };
  return action.type === "save"
    ? { ...named, n_saved: tokens, n_written: bytes, timings: { save_ms: rounded } }
    : { ...named, n_restored: tokens, n_read: bytes, timings: { restore_ms: rounded } };
}

const invalid = (param: string, rule: string): SvcError => fieldError("invalid_value", param, rule);
