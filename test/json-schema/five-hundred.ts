// Generates five hundred random schemas, and texts that follow them, by the model and at random: `bun
// test/json-schema/five-hundred.ts`.

import { library, load } from "../native/harness.ts";
import { sampleSchemas } from "./sampling.ts";

const llama = library();
await load(llama);
const { failures, ...counts } = sampleSchemas(llama, 500, 100, 1000);
llama.unload();
console.log(counts);
for (const failure of failures) console.log(failure);
console.log(`${failures.length} texts do not validate`);
process.exit(failures.length > 0 ? 1 : 0);
