import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTls } from "../../src/config/tls.ts";
import { sharedFolder } from "../support/folders.ts";

const fixture = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
const [cert, key] = [fixture("cert.pem"), fixture("key.pem")];

const home = sharedFolder();

function keyFile(name: string, passphrase?: string): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const encrypted = passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase };
  writeFileSync(join(home, name), privateKey.export({ type: "pkcs8", format: "pem", ...encrypted }));
  return join(home, name);
}

test("a certificate and its key are read, and without them TLS is off", () => {
  expect(readTls({ cert, key })).toMatchObject({ cert: expect.stringContaining("BEGIN CERTIFICATE") });
  expect(readTls({})).toBeUndefined();
});

test("files that cannot be used get an error with the reason", () => {
  expect(() => readTls({ cert })).toThrow("--tls-cert and --tls-key belong together.");
  expect(() => readTls({ key })).toThrow("--tls-cert and --tls-key belong together.");
  const missing = join(home, "missing.pem");
  expect(() => readTls({ cert: missing, key })).toThrow(
    `The certificate ${missing} cannot be read: there is no such file or folder.`,
  );
  expect(() => readTls({ cert, key: missing })).toThrow(
    `The private key ${missing} cannot be read: there is no such file or folder.`,
  );
  expect(() => readTls({ cert: key, key })).toThrow(`The certificate ${key} is not in PEM form.`);
  expect(() => readTls({ cert, key: cert })).toThrow(`The private key ${cert} is not in PEM form.`);
  expect(() => readTls({ cert, key: keyFile("locked.pem", "hush") })).toThrow("locked.pem has a passphrase.");
  expect(() => readTls({ cert, key: keyFile("other.pem") })).toThrow(`does not belong to the certificate ${cert}.`);
});
