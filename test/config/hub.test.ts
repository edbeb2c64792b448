import { expect, test } from "bun:test";
import { hubSettings, npmRegistry } from "../../src/config/hub.ts";

test("the hub is Hugging Face, unless HF_ENDPOINT names a mirror", () => {
  expect(hubSettings({})).toEqual({
    endpoint: "https://huggingface.co",
    userAgent: expect.stringMatching(/^svc\/\d/),
  });
  expect(hubSettings({ HF_ENDPOINT: "https://mirror.example/", HF_TOKEN: " hf_x\n" })).toMatchObject({
    endpoint: "https://mirror.example",
    token: "hf_x",
  });
  expect(hubSettings({ HF_ENDPOINT: "", HF_TOKEN: "" })).not.toHaveProperty("token");
});

test("packages come from npm's registry, unless NPM_CONFIG_REGISTRY names a mirror", () => {
  expect(npmRegistry({})).toBe("https://registry.npmjs.org");
  expect(npmRegistry({ NPM_CONFIG_REGISTRY: "https://npm.example/" })).toBe("https://npm.example");
});

test("invalid values are refused without being repeated", () => {
  for (const endpoint of ["mirror", "ftp://x", "https://"])
    expect(() => hubSettings({ HF_ENDPOINT: endpoint })).toThrow("HF_ENDPOINT");
  expect(() => npmRegistry({ NPM_CONFIG_REGISTRY: "npm" })).toThrow("NPM_CONFIG_REGISTRY");
  expect(() => hubSettings({ HF_TOKEN: "two words" })).toThrow(/^HF_TOKEN must be one word of ASCII characters\.$/);
});
