// Every fourth of the formats that there are; `throttle.long.test.ts` has the others.

import { distinct, throttleTests } from "./throttle-tests.ts";

throttleTests(distinct.filter((_, at) => at % 4 === 0));
