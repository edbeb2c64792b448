// Checks the lines of a batch's input before the first one is answered.

import { decodeInputLine } from "../../dialect/batches/decode.ts";
import { SvcError } from "../../domain/errors.ts";
import type { BatchFault } from "../../store/batch-records.ts";
import { isBadJson, isBlank, type Line, type LinesFile } from "../../store/json-lines.ts";

/** Maximum number of faults to list. */
const MOST_FAULTS = 100;

interface Validation {
  readonly total: number;
  readonly faults: readonly BatchFault[];
}

/** Counts the lines for `endpoint` in a file and lists their faults. Throws system errors, or the signal's reason. */
export async function validateInput(
  file: LinesFile,
  endpoint: string,
  mostLines: number,
  signal: AbortSignal,
): Promise<Validation> {
  const seen = new Set<string>();
  const faults: BatchFault[] = [];
  let total = 0;
  const customId = (line: Line) => file.read(line, signal, (value) => decodeInputLine(value, endpoint).customId);
  for await (const line of file.lines()) {
    signal.throwIfAborted();
    if (isBlank(line)) continue;
    total++;
    const fault = total > mostLines ? tooMany(mostLines) : await lineFault(line, customId, seen, signal);
    if (fault) faults.push(fault);
    if (faults.length === MOST_FAULTS || total > mostLines) break;
  }
  return { total, faults };
}

async function lineFault(
  line: Line,
  customIdOf: (line: Line) => Promise<string>,
  seen: Set<string>,
  signal: AbortSignal,
): Promise<BatchFault | undefined> {
  const { number } = line;
  try {
    const customId = await customIdOf(line);
    if (!seen.has(customId)) {
      seen.add(customId);
      return undefined;
    }
    const message = "'custom_id' must be unique in the file; an earlier line has the same.";
    return { code: "duplicate_custom_id", message, param: "custom_id", line: number };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SvcError) {
      return { code: error.code, message: error.message, param: error.details.param ?? null, line: number };
    }
    if (!isBadJson(error)) throw error;
    return { code: "invalid_json", message: "The line is not valid JSON.", param: null, line: number };
  }
}

const tooMany = (limit: number): BatchFault => ({
  code: "too_many_lines",
  message: `The file has more than ${limit} lines, the limit set by --max-batch-lines.`,
  param: "input_file_id",
  line: null,
});
