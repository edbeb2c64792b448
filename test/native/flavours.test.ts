// Which flavours can be built for a system, and where their llama.cpp libraries come from.

import { expect, test } from "bun:test";
import { flavours, prebuiltPackage } from "../../vendor/llama.ts";

const SYSTEMS = ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64", "windows-x64", "freebsd-x64"];

test("each system has the flavours for which there are libraries, and the refusal of another one names them", () => {
  const found = SYSTEMS.map((system) => {
    const named = flavours.map((flavour) => {
      try {
        return [flavour, prebuiltPackage(flavour, system)?.package ?? "compiled"];
      } catch (error) {
        return [flavour, (error as Error).message];
      }
    });
    return [system, Object.fromEntries(named)];
  });
  const none = (flavour: string, system: string, others: string) =>
    `There are no llama.cpp libraries of the flavour ${flavour} for ${system}. Its flavours: ${others}.`;
  const without = (system: string, others: string, missing: readonly string[]) =>
    Object.fromEntries(missing.map((flavour) => [flavour, none(flavour, system, others)]));
  const mac = (system: string) => ({
    cpu: "compiled",
    metal: "compiled",
    sanitize: "compiled",
    ...without(system, "cpu, metal, sanitize", ["cuda", "vulkan"]),
  });
  expect(Object.fromEntries(found)).toEqual({
    "linux-x64": {
      cpu: "@node-llama-cpp/linux-x64",
      cuda: "@node-llama-cpp/linux-x64-cuda",
      vulkan: "@node-llama-cpp/linux-x64-vulkan",
      sanitize: "compiled",
      ...without("linux-x64", "cpu, cuda, vulkan, sanitize", ["metal"]),
    },
    "linux-arm64": {
      cpu: "@node-llama-cpp/linux-arm64",
      sanitize: "compiled",
      ...without("linux-arm64", "cpu, sanitize", ["cuda", "vulkan", "metal"]),
    },
    "darwin-arm64": mac("darwin-arm64"),
    "darwin-x64": mac("darwin-x64"),
    "windows-x64": {
      cpu: "compiled",
      sanitize: "compiled",
      ...without("windows-x64", "cpu, sanitize", ["cuda", "vulkan", "metal"]),
    },
    "freebsd-x64": {
      sanitize: "compiled",
      ...without("freebsd-x64", "sanitize", ["cpu", "cuda", "vulkan", "metal"]),
    },
  });
});
