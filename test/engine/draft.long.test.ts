// The same as draft.test.ts where each sequence has cells of its own.

import { describe, setDefaultTimeout } from "bun:test";
import { MODEL } from "../native/harness.ts";
import { draftTests, expectedAnswers } from "./draft-rig.ts";

setDefaultTimeout(120_000);

const expected = expectedAnswers();

describe("the draft model is the model itself, streams KV cache", () => draftTests(expected, MODEL, "streams"));
