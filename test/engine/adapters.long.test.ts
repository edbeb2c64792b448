// The same as adapters.test.ts where each sequence has cells of its own.

import { describe, setDefaultTimeout } from "bun:test";
import { adaptersRig, sideBySideTests } from "./adapters-rig.ts";

// Other processes may have the cores.
setDefaultTimeout(60_000);

const rig = adaptersRig();

describe("side by side, streams", () => sideBySideTests(rig, "streams"));
