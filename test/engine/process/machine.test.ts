import { describe, expect, test } from "bun:test";
import { cpus } from "node:os";
import {
  availableMemory,
  othersShare,
  ownMemory,
  physicalCores,
  usableCores,
} from "../../../src/engine/process/machine.ts";

const MIB = 2 ** 20;
const kernel = (files: Readonly<Record<string, string>>) => (path: string) => files[path] ?? "";
const meminfo = { "/proc/meminfo": `MemTotal: 16777216 kB\nMemAvailable:    8388608 kB\n` };

test("mapped files do not count as a process's own memory, where that is known", () => {
  const status = "VmRSS:\t 5000 kB\nRssAnon:\t    3072 kB\nRssFile:\t 1928 kB\n";
  expect(ownMemory(kernel({ "/proc/self/status": status }))).toBe(3 * MIB);
  expect(ownMemory(kernel({}))).toBeGreaterThan(MIB);
});

describe("available memory", () => {
  test("is the value that the kernel reports", () => {
    expect(availableMemory(kernel(meminfo))).toBe(8192 * MIB);
    expect(availableMemory(kernel({ ...meminfo, "/sys/fs/cgroup/memory.max": "max\n" }))).toBe(8192 * MIB);
  });

  test("is limited by the container's limit, without counting idle file cache as used", () => {
    const version2 = {
      "/sys/fs/cgroup/memory.max": `${4096 * MIB}\n`,
      "/sys/fs/cgroup/memory.current": `${3000 * MIB}\n`,
      "/sys/fs/cgroup/memory.stat": `anon 5\ninactive_file ${2500 * MIB}\nactive_file 7\n`,
    };
    expect(availableMemory(kernel({ ...meminfo, ...version2 }))).toBe(3596 * MIB);
    const version1 = {
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": `${2048 * MIB}\n`,
      "/sys/fs/cgroup/memory/memory.usage_in_bytes": `${1024 * MIB}\n`,
    };
    expect(availableMemory(kernel({ ...meminfo, ...version1 }))).toBe(1024 * MIB);
  });

  test("is limited by the own group of a service and by each group around it", () => {
    const own = "/system.slice/svc.service";
    const version2 = {
      "/proc/self/cgroup": `0::${own}\n`,
      [`/sys/fs/cgroup${own}/memory.max`]: `${6144 * MIB}\n`,
      [`/sys/fs/cgroup${own}/memory.current`]: `${5000 * MIB}\n`,
      [`/sys/fs/cgroup${own}/memory.stat`]: `inactive_file ${1000 * MIB}\n`,
    };
    expect(availableMemory(kernel({ ...meminfo, ...version2 }))).toBe(2144 * MIB);
    const slice = {
      "/sys/fs/cgroup/system.slice/memory.max": `${3000 * MIB}\n`,
      "/sys/fs/cgroup/system.slice/memory.current": `${1000 * MIB}\n`,
    };
    expect(availableMemory(kernel({ ...meminfo, ...version2, ...slice }))).toBe(2000 * MIB);
    const version1 = {
      "/proc/self/cgroup": "5:cpu,cpuacct:/other\n4:memory:/job/step:0\n1:name=systemd:/\n0::/\n",
      "/sys/fs/cgroup/memory/job/step:0/memory.limit_in_bytes": `${900 * MIB}\n`,
      "/sys/fs/cgroup/memory/other/memory.limit_in_bytes": `${100 * MIB}\n`,
    };
    expect(availableMemory(kernel({ ...meminfo, ...version1 }))).toBe(900 * MIB);
  });

  test("is limited by a container's root where its group has another name on the host", () => {
    const container = {
      "/proc/self/cgroup": "4:memory:/docker/0e13\n0::/docker/0e13\n",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": `${700 * MIB}\n`,
    };
    expect(availableMemory(kernel({ ...meminfo, ...container }))).toBe(700 * MIB);
  });

  test("is never negative, and is known without any of these files", () => {
    const full = { "/sys/fs/cgroup/memory.max": "1000", "/sys/fs/cgroup/memory.current": "2000" };
    expect(availableMemory(kernel({ ...meminfo, ...full }))).toBe(0);
    expect(availableMemory(kernel({}))).toBeGreaterThan(0);
  });
});

describe("cores", () => {
  const here = physicalCores(kernel({}));

  test("are the whole cores of a container's share", () => {
    expect(physicalCores(kernel({ "/sys/fs/cgroup/cpu.max": "190000 100000\n" }))).toBe(1);
    const version1 = {
      "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
      "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    };
    expect(physicalCores(kernel(version1))).toBe(1);
  });

  test("are the whole cores of a service's share, or of a smaller one around it", () => {
    const service = {
      "/proc/self/cgroup": "0::/system.slice/svc.service\n",
      "/sys/fs/cgroup/system.slice/svc.service/cpu.max": "150000 100000\n",
    };
    expect(physicalCores(kernel(service))).toBe(1);
    const slice = {
      "/proc/self/cgroup": "2:cpu,cpuacct:/user/1\n0::/\n",
      "/sys/fs/cgroup/cpu/user/1/cpu.cfs_quota_us": "100000000\n",
      "/sys/fs/cgroup/cpu/user/1/cpu.cfs_period_us": "100000\n",
      "/sys/fs/cgroup/cpu/user/cpu.cfs_quota_us": "120000\n",
      "/sys/fs/cgroup/cpu/user/cpu.cfs_period_us": "100000\n",
    };
    expect(physicalCores(kernel(slice))).toBe(1);
  });

  test("say whether they are such a share", () => {
    const share = { "/sys/fs/cgroup/cpu.max": "50000 100000\n" };
    expect(usableCores(kernel(share))).toEqual({ count: 1, limit: "share" });
    expect(usableCores(kernel({}))).toEqual({ count: here, limit: "allowed" });
    const ample = { "/sys/fs/cgroup/cpu.max": "100000000 100000\n" };
    expect(usableCores(kernel(ample))).toEqual({ count: here, limit: "allowed" });
  });

  test.skipIf(process.platform !== "linux")("say whether they are all physical ones", () => {
    const threads = [0, 0, 1, 1].map((core) => `physical id\t: 0\ncore id\t\t: ${core}\n`);
    const files = kernel({ "/proc/cpuinfo": threads.join("\n") });
    expect(usableCores(files, 4)).toEqual({ count: 2, limit: "physical" });
    expect(usableCores(files, 2)).toEqual({ count: 2, limit: "physical" });
    // The process may run on one of them.
    expect(usableCores(files, 1)).toEqual({ count: 1, limit: "allowed" });
  });

  test("are all cores of the machine without a limit", () => {
    expect(physicalCores(kernel({ "/sys/fs/cgroup/cpu.max": "max 100000\n" }))).toBe(here);
    const version1 = {
      "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
      "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    };
    expect(physicalCores(kernel(version1))).toBe(here);
    expect(physicalCores(kernel({ "/sys/fs/cgroup/cpu.max": "100000000 100000\n" }))).toBe(here);
  });
});

test("the share of other processes is between 0 and 1", () => {
  for (const own of [0, 1, cpus().length]) {
    expect(othersShare(own)).toBeGreaterThanOrEqual(0);
    expect(othersShare(own)).toBeLessThanOrEqual(1);
  }
  expect(othersShare(1_000_000)).toBe(0);
});

test.skipIf(process.platform !== "linux")("a running process counts as one that needs a core", () => {
  expect(othersShare(0)).toBeGreaterThan(0);
});
