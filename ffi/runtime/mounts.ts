// Finds out whether a folder may hold libraries at all: systems may mount temporary folders as not executable.

import { readFileSync, realpathSync } from "node:fs";

/** Returns true when the file system of `folder` is mounted noexec; false where the system has no mount table. */
export function forbidsPrograms(folder: string): boolean {
  try {
    return isNoexec(realpathSync(folder), readFileSync("/proc/self/mounts", "utf8"));
  } catch {
    return false;
  }
}

/** Does the same for an absolute path and the text of a mount table (`device folder type options …`, one per line). */
export function isNoexec(path: string, mounts: string): boolean {
  let best = "";
  let options = "";
  for (const line of mounts.split("\n")) {
    const [, escaped = "", , flags = ""] = line.split(" ");
    const folder = escaped.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    const holds = path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
    // Of two mounts on one folder, the later one is visible.
    if (folder !== "" && holds && folder.length >= best.length) [best, options] = [folder, flags];
  }
  return options.split(",").includes("noexec");
}
