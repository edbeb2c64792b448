import { describe, expect, test } from "bun:test";
import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";
import { join } from "node:path";
import { lanAddresses, reachable, uncovered } from "../../src/cli/reachable.ts";
import { routedAddresses } from "../../src/cli/routed-addresses.ts";
import { readText } from "../../src/engine/process/machine.ts";
import { readTls } from "../../src/config/tls.ts";

const at = (address: string, internal = false) => ({ address, internal }) as NetworkInterfaceInfo;
const loopback = [at("127.0.0.1", true), at("::1", true)];
const home = {
  lo: loopback,
  docker0: [at("172.17.0.1")],
  wlan0: [at("192.168.1.5"), at("fe80::1"), at("2001:db8::5")],
};
const where = { host: "127.0.0.1", port: 9999, apiKeys: [], allowedHosts: [] };

describe("addresses on the network", () => {
  test("are those that other machines use", () => {
    expect(lanAddresses(home)).toEqual(["192.168.1.5"]);
  });

  test("are those of containers when there are no others", () => {
    expect(lanAddresses({ lo: loopback, docker0: [at("172.17.0.1")] })).toEqual(["172.17.0.1"]);
  });

  test("are first those on the default route, and last those of tunnels", () => {
    const interfaces = {
      lo: loopback,
      wg0: [at("10.8.0.2")],
      tailscale0: [at("100.101.102.103")],
      eth0: [at("10.0.0.7")],
      wlan0: [at("192.168.1.5")],
    };
    const tunnels = ["10.8.0.2", "100.101.102.103"];
    expect(lanAddresses(interfaces, ["192.168.1.5"])).toEqual(["192.168.1.5", "10.0.0.7", ...tunnels]);
    // All goes through a tunnel.
    expect(lanAddresses(interfaces, ["10.8.0.2"])).toEqual(["10.0.0.7", "192.168.1.5", ...tunnels]);
    expect(lanAddresses({ lo: loopback, wg0: [at("10.8.0.2")] })).toEqual(["10.8.0.2"]);
  });

  test.each(["lxdbr0", "bridge100", "vEthernet (WSL)", "VMware Network Adapter VMnet8", "cilium_host"])(
    "are not those of the internal network %s, unless the default route is there",
    (name) => {
      const interfaces = { [name]: [at("172.20.0.1")], eth0: [at("10.0.0.7")] };
      expect(lanAddresses(interfaces)).toEqual(["10.0.0.7"]);
      expect(lanAddresses(interfaces, ["172.20.0.1"])).toEqual(["172.20.0.1", "10.0.0.7"]);
    },
  );

  test("on the default route are this machine's own", async () => {
    const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
    const routed = await routedAddresses();
    expect(routed.filter((address) => !own.includes(address))).toEqual([]);
    const hasRoute = /^\S+\t00000000\t/m.test(readText("/proc/net/route"));
    if (hasRoute) expect(routed).not.toBeEmpty();
  });

  test("are IPv6 when there are no others but those of tunnels", () => {
    const routed = "2001:db8::5";
    const interfaces = { lo: loopback, eth0: [at(routed)], tailscale0: [at("100.101.102.103"), at("fd7a::1")] };
    expect(lanAddresses(interfaces, [routed])).toEqual([routed, "100.101.102.103"]);
    expect(lanAddresses({ lo: loopback, eth0: [at("fe80::1"), at("2001:db8::5")] })).toEqual(["2001:db8::5"]);
    expect(lanAddresses({ lo: loopback })).toEqual([]);
  });
});

describe("a server", () => {
  test("on loopback is reachable from this machine only", () => {
    expect(reachable(where, home)).toEqual({ here: "http://127.0.0.1:9999" });
    expect(reachable({ ...where, host: "::1" }, home)).toEqual({ here: "http://[::1]:9999" });
  });

  test.each(["0.0.0.0", "::"])("on every interface (%s) is reachable through loopback and the network", (host) => {
    expect(reachable({ ...where, host }, home)).toEqual({
      here: "http://127.0.0.1:9999",
      others: ["http://192.168.1.5:9999"],
    });
  });

  test("on every interface is reachable first on the default route", () => {
    const two = { ...home, eth0: [at("10.0.0.7")] };
    const { others } = reachable({ ...where, host: "0.0.0.0" }, two, ["10.0.0.7"]);
    expect(others).toEqual(["http://10.0.0.7:9999", "http://192.168.1.5:9999"]);
  });

  test("on one address is reachable there", () => {
    const url = "http://10.0.0.7:9999";
    expect(reachable({ ...where, host: "10.0.0.7" }, home)).toEqual({ here: url, others: [url] });
  });

  test("on every interface of a machine without a network is not reachable for others", () => {
    const { others } = reachable({ ...where, host: "0.0.0.0" }, { lo: loopback });
    expect(others).toEqual([]);
  });
});

test("where a sandbox hides the interfaces, a server on every interface is reachable from this machine", async () => {
  const code = `
    import { mock } from "bun:test";
    import * as os from "node:os";
    const refused = () => { throw new Error("uv_interface_addresses returned Unknown system error 97"); };
    mock.module("node:os", () => ({ ...os, networkInterfaces: refused }));
    const { reachable, lanAddresses } = await import(${JSON.stringify(join(import.meta.dir, "../../src/cli/reachable.ts"))});
    const { addressFilter } = await import(${JSON.stringify(join(import.meta.dir, "../../src/media/addresses.ts"))});
    const isPublic = addressFilter(false)({ address: "1.1.1.1", family: 4 });
    console.log(JSON.stringify([reachable(${JSON.stringify({ ...where, host: "0.0.0.0" })}), lanAddresses(), isPublic]));`;
  const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(err).toBe("");
  expect(JSON.parse(out)).toEqual([{ here: "http://127.0.0.1:9999", others: [] }, [], true]);
});

describe("a server with HTTPS", () => {
  const fixture = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
  const withCertificate = (file: string) => {
    const tls = readTls({ cert: fixture(file), key: fixture("key.pem") });
    return { ...where, ...(tls && { tls }) };
  };
  const box = { ...withCertificate("box.pem"), host: "0.0.0.0" };

  test("is reachable by the names of its certificate that it answers to", () => {
    const allowedHosts = ["printer", "ai.example.org", "box"];
    const found = reachable({ ...box, allowedHosts }, home);
    expect(found.others).toEqual(["https://ai.example.org:9999", "https://box:9999"]);
    expect(found.here).toBe("https://ai.example.org:9999");
  });

  test("has a warning when its certificate does not cover the address that the banner shows", () => {
    expect(uncovered(box)).toBe(
      "the certificate is not for 127.0.0.1, so clients refuse https://127.0.0.1:9999: with --allowed-host box, svc shows a name that it covers",
    );
    expect(uncovered({ ...box, allowedHosts: ["box"] })).toBe("");
    expect(uncovered(withCertificate("cert.pem"))).toBe("");
    expect(uncovered(where)).toBe("");
  });

  test("has a warning that names an address when its certificate has no names", () => {
    const local = withCertificate("addresses.pem");
    expect(uncovered(local)).toEndWith(": with --host 10.0.0.7, svc shows an address that it covers");
    expect(uncovered({ ...local, host: "10.0.0.7" })).toBe("");
    const everywhere = { ...local, host: "0.0.0.0" };
    expect(uncovered(everywhere)).toEndWith(": with --allowed-host 10.0.0.7, svc shows an address that it covers");
    expect(uncovered({ ...everywhere, allowedHosts: ["10.0.0.7"] })).toBe("");
  });

  test("is reachable at those of its addresses that the certificate contains", () => {
    const here = "https://127.0.0.1:9999";
    const interfaces = { lo: loopback, eth0: [at("192.168.1.5"), at("10.0.0.7")] };
    expect(reachable(box, interfaces)).toEqual({ here, others: ["https://10.0.0.7:9999"] });
    expect(reachable({ ...withCertificate("cert.pem"), host: "0.0.0.0" }, home)).toEqual({
      here,
      others: ["https://192.168.1.5:9999"],
    });
  });
});
