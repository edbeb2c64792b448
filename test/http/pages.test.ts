import { describe, expect, test } from "bun:test";
import { serve } from "./harness.ts";

const BROWSER = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };
const open = (url: string) => fetch(url, BROWSER);
/** What a page loads. */
const loads = (html: string) => [...html.matchAll(/\b(?:src|href)="(\/page\/[^"]+)"/g)].map(([, path = ""]) => path);

describe("GET /", () => {
  test("tells programs what this is, and gives browsers the page", async () => {
    const { url } = serve();
    const plain = await fetch(`${url}/`);
    expect([plain.status, await plain.text()]).toEqual([200, expect.stringContaining("svc 0.0.0-test is running")]);
    expect(plain.headers.get("vary")).toBe("Accept");
    expect((await fetch(`${url}/`, { method: "HEAD" })).status).toBe(200);
    for (const accept of ["*/*", "application/json", "text/plain"]) {
      expect(await (await fetch(`${url}/`, { headers: { accept } })).text()).toContain("is running");
    }
    const page = await open(`${url}/`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
    expect(await page.text()).toContain("<title>svc</title>");
  });
});

// A server bundles the pages for the first browser: these tests look at both.
describe("the pages to chat in and of the API", () => {
  const paths = ["/", "/docs"];

  test("have nothing inline, and load files of this server alone, which are there for good", async () => {
    const { url } = serve();
    for (const path of paths) {
      const html = await (await open(url + path)).text();
      expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/);
      const files = loads(html);
      expect(files.length).toBeGreaterThanOrEqual(3);
      expect(html.match(/\b(?:src|href)="[^"]*"/g)?.filter((one) => one.includes("//"))).toEqual([]);
      for (const file of files) {
        const response = await fetch(url + file);
        expect([response.status, response.headers.get("cache-control")]).toEqual([
          200,
          expect.stringContaining("immutable"),
        ]);
        expect(response.headers.get("content-type")).toMatch(/^(?:text\/(?:javascript|css)|image\/svg\+xml)/);
        expect((await response.text()).length).toBeGreaterThan(100);
      }
    }
  });

  test("are allowed the files of this server, talk to nobody else, and are in nobody's frame", async () => {
    const { url } = serve();
    const policies = await Promise.all(
      paths.map(async (path) => (await open(url + path)).headers.get("content-security-policy")?.split("; ")),
    );
    for (const policy of policies) {
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("style-src 'self'");
      expect(policy).toContain("connect-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
    }
    // Only markup of the sanitiser becomes part of the page to chat in.
    expect(policies[0]).toContain("require-trusted-types-for 'script'");
  });

  test("ask for no API key, nor do their files; and any page may link to them", async () => {
    const { url } = serve(undefined, { apiKeys: [{ name: "ada", key: "k" }] });
    const headers = { ...BROWSER.headers, "sec-fetch-site": "cross-site" };
    for (const path of paths) {
      const html = await (await fetch(url + path, { headers })).text();
      for (const file of loads(html)) expect((await fetch(url + file)).status).toBe(200);
    }
  });
});

test("there are no other files", async () => {
  const { url } = serve();
  for (const name of ["nothing.js", "..%2f..%2fpackage.json", "%00", "index.html/x"]) {
    const response = await fetch(`${url}/page/${name}`);
    expect([name, response.status]).toEqual([name, 404]);
    expect(await response.json()).toMatchObject({ error: { code: "not_found" } });
  }
});
