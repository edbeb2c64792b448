// The networks that a client's URL must not lead to, with the first and last address of each.

import { expect, test } from "bun:test";
import { isIP } from "node:net";
import { addressFilter } from "../../src/media/addresses.ts";

const mayFetch = (privateToo: boolean, addresses: readonly string[]): boolean[] =>
  addresses.map((address) => addressFilter(privateToo)({ address, family: isIP(address) }));
const FF = "ffff:ffff:ffff:ffff:ffff:ffff";

/** First and last address. */
const closed: readonly (readonly [string, string])[] = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "255.255.255.255"],
  // Addresses that no registry assigns, including loopback and the old IPv4-compatible form.
  ["::", "::ffff"],
  ["::127.0.0.1", "::fffe:ffff:ffff"],
  // Other forms of IPv4: mapped, translated, NAT64.
  ["::ffff:10.0.0.0", "::ffff:10.255.255.255"],
  ["::ffff:7f00:1", "::ffff:c0a8:101"],
  ["::ffff:0:808:808", "::ffff:0:7f00:1"],
  ["64:ff9b::127.0.0.1", "64:ff9b::c0a8:101"],
  ["64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
  ["100::", "100::ffff:ffff:ffff:ffff"],
  ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2002::", `2002:ffff:${FF}`],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["4000::", `5eff:ffff:${FF}`],
  ["5f00::", `5f00:ffff:${FF}`],
  ["fc00::", `fdff:ffff:${FF}`],
  ["fd00:ec2::254", "fd20:ce::254"],
  ["fe80::", `febf:ffff:${FF}`],
  ["fe80::1%eth0", "fe80::1%1"],
  ["fec0::", `feff:ffff:${FF}`],
  ["ff00::", `ffff:ffff:${FF}`],
];

test.each(closed)("%s to %s is not requested", (first, last) => {
  expect(mayFetch(false, [first, last])).toEqual([false, false]);
});

test("Azure's metadata service at a public address is not requested", () => {
  expect(mayFetch(false, ["168.63.129.15", "168.63.129.16", "168.63.129.17"])).toEqual([true, false, true]);
});

test.each([
  ["1.0.0.0", "9.255.255.255"],
  ["11.0.0.0", "100.63.255.255"],
  ["100.128.0.0", "126.255.255.255"],
  ["128.0.0.0", "169.253.255.255"],
  ["169.255.0.0", "172.15.255.255"],
  ["172.32.0.0", "191.255.255.255"],
  ["192.0.1.0", "192.0.3.0"],
  ["192.88.98.255", "192.88.100.0"],
  ["192.167.255.255", "192.169.0.0"],
  ["198.17.255.255", "198.20.0.0"],
  ["198.51.99.255", "198.51.101.0"],
  ["203.0.112.255", "203.0.114.0"],
  ["203.0.114.0", "223.255.255.255"],
  ["2000::", `2000:ffff:${FF}`],
  ["2001:200::", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db9::", `2001:ffff:${FF}`],
  ["2003::", `3ffe:ffff:${FF}`],
  ["3fff:1000::", `3fff:ffff:${FF}`],
  ["::ffff:8.8.8.8", "::ffff:101:101"],
  ["64:ff9b::8.8.8.8", "64:ff9b::101:101"],
])("%s and %s are public", (one, other) => {
  expect(mayFetch(false, [one, other])).toEqual([true, true]);
});

test("networks of this machine are not requested, even public ones, unless private addresses are allowed", () => {
  const near = ["9.9.9.9/24", "2606:4700::1/64"];
  const ask = (privateToo: boolean, addresses: readonly string[]) =>
    addresses.map((address) => addressFilter(privateToo, near)({ address, family: isIP(address) }));
  const inside = ["9.9.9.9", "9.9.9.255", "::ffff:9.9.9.9", "64:ff9b::909:909", "2606:4700::1", "2606:4700::ffff:1"];
  expect(ask(false, inside).some(Boolean)).toBe(false);
  expect(ask(false, ["9.9.8.255", "9.9.10.0", "2606:4700:0:1::"]).every(Boolean)).toBe(true);
  expect(ask(true, inside).every(Boolean)).toBe(true);
});

test("link-local and metadata addresses are not requested even when private addresses are allowed", () => {
  const near = ["127.0.0.1", "10.0.0.1", "192.168.1.1", "100.100.100.199", "::1", "fd00::1", "::ffff:127.0.0.1"];
  expect(mayFetch(true, near).every(Boolean)).toBe(true);
  const never = ["169.254.0.0", "169.254.255.255", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fe80::1%eth0"];
  const clouds = ["100.96.0.96", "fd00:42::42", "fd00:100::100:200", "fd00:a9fe:a9fe::1", "fd00:c1::a9fe:a9fe"];
  const six = [
    ...clouds,
    "fd00:ec2::23",
    "fd00:ec2::254",
    "fd20:ce::254",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "::ffff:0:a9fe:a9fe",
    "::a9fe:a9fe",
  ];
  expect(mayFetch(true, [...never, ...six, "2002:a9fe:a9fe::"]).some(Boolean)).toBe(false);
});
