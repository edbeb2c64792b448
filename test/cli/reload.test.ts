import { expect, test } from "bun:test";
import { join } from "node:path";

const script = `import { ignoresHangup } from ${JSON.stringify(join(import.meta.dir, "../../src/cli/reload.ts"))};
process.stdout.write(String(ignoresHangup()));`;

/** Returns the output of a process that a shell starts with this prefix. */
async function said(before: string): Promise<string> {
  const command = ["sh", "-c", `${before} exec "$0" -e "$1"`, process.execPath, script];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit", stdin: "ignore" });
  return child.stdout.text();
}

test.skipIf(process.platform !== "linux")("a server under nohup does not end with its terminal", async () => {
  expect([await said(""), await said('trap "" HUP;')]).toEqual(["false", "true"]);
});
