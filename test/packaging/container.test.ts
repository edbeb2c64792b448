// The container's files must agree: svc's folders belong to its user in the image, and are writable in the read-only
// recipes; a pod gets the variables that svc reads. The image itself is built by the release.

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArguments } from "../../src/cli/arguments.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { blocksOf, pages } from "../docs/markdown.ts";
import { environmentIn } from "../support/environment-in.ts";
import { temporaryFolder } from "../support/folders.ts";

const dockerfile = readFileSync(join(import.meta.dir, "../../packaging/templates/Dockerfile"), "utf8");
const variables = environmentIn(/^ENV (.*)$/m.exec(dockerfile)?.[1] ?? "");
const [, user = ""] = /uid=(\d+)/.exec(dockerfile) ?? [];
const folders = ["XDG_CACHE_HOME", "XDG_DATA_HOME"].map((name) => variables[name] ?? "");

function block(page: string, language: string, having: string): string {
  const found = pages().find(({ path }) => path === page);
  const code = found && blocksOf(found).find((one) => one.language === language && one.code.includes(having))?.code;
  if (code === undefined) throw new Error(`${page} has no block in ${language} with ${having}`);
  return code;
}

test("the folders in which svc stores data belong to its user", () => {
  expect(folders).toEqual(["/cache", "/data"]);
  for (const folder of folders) {
    expect(dockerfile).toMatch(new RegExp(`^COPY --chown=${user}:${user} --chmod=0700 empty ${folder}$`, "m"));
  }
});

test("svc stores data in these folders, unless a config file names others", () => {
  const folder = temporaryFolder();
  const file = join(folder, "config.toml");
  writeFileSync(file, 'data-dir = "/volume"\n');
  const environment = { HOME: folder, ...variables };
  const own = { host: "0.0.0.0", cacheDir: "/cache/svc", dataDir: "/data/svc" };
  expect(readConfig(new Map(), environment, "/")).toMatchObject(own);
  expect(readConfig(new Map([["config", file]]), environment, "/")).toMatchObject({ ...own, dataDir: "/volume" });
});

test("the read-only recipes mount these folders, and the folder for uploads", () => {
  const run = block("docs/releases.md", "sh", "--read-only");
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

const manifest = Bun.YAML.parse(
  block("docs/cluster.md", "yaml", "apiVersion")
    .split(/^---$/m)
    .find((one) => one.includes("image: svc:local")) ?? "",
);

test("a pod of the Kubernetes manifest gets no variables of the Service called svc", () => {
  expect(manifest).toMatchObject({ spec: { template: { spec: { enableServiceLinks: false } } } });
});

test("batches outlive the containers of a cluster: its recipes mount a volume of the image's user for them", () => {
  const [, data = ""] = folders;
  const compose = Bun.YAML.parse(block("docs/cluster.md", "yaml", "services:"));
  expect(compose).toMatchObject({ services: { svc: { volumes: [`data:${data}`] } }, volumes: { data: {} } });
  const container = { volumeMounts: expect.arrayContaining([{ name: "data", mountPath: data }]) };
  const pod = { containers: [container], securityContext: { fsGroup: Number(user) } };
  const volumeClaimTemplates = [{ metadata: { name: "data" } }];
  expect(manifest).toMatchObject({ kind: "StatefulSet", spec: { template: { spec: pod }, volumeClaimTemplates } });
});

test.each(["docs/team.md", "docs/cluster.md", "docs/releases.md"])(
  "%s runs no shell in the image, which has none",
  (name) => {
    const text = pages().find(({ path }) => path === name)?.text;
    expect(text).not.toMatch(/\bexec\b.* (?:ba)?sh\b/);
  },
);
