import { distinct, throttleTests } from "./throttle-tests.ts";

throttleTests(distinct.filter((_, at) => at % 4 !== 0));
