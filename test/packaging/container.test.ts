// The container's files must agree: svc's folders belong to its user in the image, and are writable in the read-only
// recipes; a pod gets the variables that svc reads. The image itself is built by the release.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArguments } from "../../src/cli/arguments.ts";
import { blocksOf, pages } from "../docs/markdown.ts";

const dockerfile = readFileSync(join(import.meta.dir, "../../packaging/templates/Dockerfile"), "utf8");
const folders = [...dockerfile.matchAll(/SVC_\w+_DIR=(\S+)/g)].map(([, folder = ""]) => folder);

function block(page: string, language: string, having: string): string {
  const found = pages().find(({ path }) => path === page);
  const code = found && blocksOf(found).find((one) => one.language === language && one.code.includes(having))?.code;
  if (code === undefined) throw new Error(`${page} has no block in ${language} with ${having}`);
  return code;
}

test("the folders in which svc stores data belong to its user", () => {
  const [, user = ""] = /uid=(\d+)/.exec(dockerfile) ?? [];
  expect(folders).toEqual(["/cache", "/data"]);
  for (const folder of folders) {
    expect(dockerfile).toMatch(new RegExp(`^COPY --chown=${user}:${user} --chmod=0700 empty ${folder}$`, "m"));
  }
});

test("the read-only recipes mount these folders, and the folder for uploads", () => {
  const run = block("docs/install.md", "sh", "--read-only");
  expect([...run.matchAll(/(?:--tmpfs |-v \S+?:)(\/\w+)/g)].map(([, folder]) => folder)).toEqual(
    expect.arrayContaining([...folders, "/tmp"]),
  );
  const { services } = Bun.YAML.parse(block("docs/team.md", "yaml", "read_only")) as {
    services: { svc: { tmpfs: string[]; volumes: string[]; command: string[]; healthcheck: { test: string[] } } };
  };
  const { tmpfs, volumes, command, healthcheck } = services.svc;
  const mounted = [...tmpfs.map((one) => one.split(":")[0]), ...volumes.map((one) => one.split(":")[1])];
  expect(mounted).toEqual(expect.arrayContaining([...folders, "/tmp"]));
  // Throws for options that svc does not have.
  parseArguments(command);
  const [kind, program, ...args] = healthcheck.test;
  expect([kind, program]).toEqual(["CMD", "/usr/bin/svc"]);
  expect(parseArguments(args).action).toBe("wait");
});

test("a pod of the Kubernetes manifest gets no variables of the Service called svc", () => {
  const manifests = block("docs/cluster.md", "yaml", "kind: Deployment").split(/^---$/m);
  const [deployment] = manifests.filter((one) => one.includes("kind: Deployment")).map((one) => Bun.YAML.parse(one));
  expect(deployment).toMatchObject({ spec: { template: { spec: { enableServiceLinks: false } } } });
});
