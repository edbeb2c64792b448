import { describe, expect, test } from "bun:test";
import type { NetworkInterfaceInfo } from "node:os";
import { lanAddresses, reachable } from "../../src/cli/reachable.ts";

const at = (address: string, internal = false) => ({ address, internal }) as NetworkInterfaceInfo;
const loopback = [at("127.0.0.1", true), at("::1", true)];
const home = {
  lo: loopback,
  docker0: [at("172.17.0.1")],
  wlan0: [at("192.168.1.5"), at("fe80::1"), at("2001:db8::5")],
};
const where = { host: "127.0.0.1", port: 9999, apiKeys: [] };

describe("addresses in the network", () => {
  test("are those that other machines use", () => {
    expect(lanAddresses(home)).toEqual(["192.168.1.5"]);
  });

  test("are those of containers where there are no others", () => {
    expect(lanAddresses({ lo: loopback, docker0: [at("172.17.0.1")] })).toEqual(["172.17.0.1"]);
  });

  test("are IPv6 where there is nothing else", () => {
    expect(lanAddresses({ lo: loopback, eth0: [at("fe80::1"), at("2001:db8::5")] })).toEqual(["2001:db8::5"]);
    expect(lanAddresses({ lo: loopback })).toEqual([]);
  });
});

describe("a server", () => {
  test("on loopback is for this machine alone", () => {
    expect(reachable(where, home)).toEqual({ here: "http://127.0.0.1:9999", others: [] });
    expect(reachable({ ...where, host: "::1" }, home)).toEqual({ here: "http://[::1]:9999", others: [] });
  });

  test.each(["0.0.0.0", "::"])("on every interface (%s) is found on loopback and in the network", (host) => {
    expect(reachable({ ...where, host }, home)).toEqual({
      here: "http://127.0.0.1:9999",
      others: ["http://192.168.1.5:9999"],
    });
  });

  test("on one address is found there", () => {
    const url = "http://10.0.0.7:9999";
    expect(reachable({ ...where, host: "10.0.0.7" }, home)).toEqual({ here: url, others: [url] });
  });
});
