// Creates the files and batches services from the services that all routes share.

import { unixSeconds } from "../domain/clock.ts";
import { pause } from "../domain/pause.ts";
import { BatchesService } from "../service/batch/batches.ts";
import { FilesService } from "../service/batch/files.ts";
import { JobFolder } from "../service/batch/job-folder.ts";
import { jobLevels } from "../service/batch/job-levels.ts";
import type { JobLevels } from "../telemetry/metrics.ts";
import { batchAnswers } from "./batch-answers.ts";
import type { AppDeps } from "./deps.ts";
import { logUnexpected } from "./log-unexpected.ts";

/** How many lines to queue in the engine beyond those being computed, so that it never waits for the next one. */
const LINES_AHEAD = 2;

interface Jobs {
  readonly files: FilesService;
  readonly batches: BatchesService;
  readonly levels: () => JobLevels | undefined;
}

/** Creates the services. Nothing runs before `batches.start()`, and nothing is on disk before something is stored. */
export function createJobs(deps: AppDeps): Jobs {
  const { bodyBudget, config, clock, log, metrics } = deps;
  const { bytes, lines, keepSeconds, keepBatchSeconds } = config.files;
  const folder = new JobFolder(config.dataDir, config.dataSize * 2 ** 20);
  const batches = new BatchesService({
    folder,
    clock,
    pause: deps.pause ?? pause,
    log,
    metrics,
    keepSeconds,
    keepBatchSeconds,
    maxLines: lines,
    linesAtOnce: config.parallel + LINES_AHEAD,
    answers: batchAnswers(deps),
    onUnexpected: (error, requestId) => logUnexpected(log, error, requestId),
  });
  return {
    files: new FilesService({ folder, clock, keepSeconds, limits: { bytes, lines }, bodyBudget }),
    batches,
    levels: () => jobLevels(folder, unixSeconds(clock)),
  };
}
