import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openTestGateway } from "./testing.ts";

async function serving(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "corral-dashboard-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const gate = await openTestGateway({ dashboard: folder });
  rmSync(folder, { recursive: true });
  onTestFinished(() => gate.close());
  return async (path: string) => {
    const response = await fetch(gate.gateway.url + path);
    return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
  };
}

const built = {
  "index.html": "<p>hi",
  "assets/index-Ab_1-2.js": "1",
  "assets/index-9.css": "p{}",
  "assets/x.map": "{}",
};
const walls = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

test("the page is sent to anyone from memory, walled in, and never kept", async () => {
  const get = await serving(built);
  expect(await get("/")).toEqual({
    status: 200,
    text: "<p>hi",
    headers: expect.objectContaining({
      ...walls,
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
    }),
  });
});

test("its scripts and styles are kept for good, since their names change with their content", async () => {
  const get = await serving(built);
  const kept = { ...walls, "cache-control": "public, max-age=31536000, immutable" };
  expect(await get("/assets/index-Ab_1-2.js")).toEqual({
    status: 200,
    text: "1",
    headers: expect.objectContaining({ ...kept, "content-type": "text/javascript; charset=utf-8" }),
  });
  expect(await get("/assets/index-9.css")).toEqual({
    status: 200,
    text: "p{}",
    headers: expect.objectContaining({ ...kept, "content-type": "text/css; charset=utf-8" }),
  });
});

test("nothing else is there, however it is spelled", async () => {
  const get = await serving(built);
  for (const path of ["/index.html", "/assets/", "/assets/x.map", "/assets2/index-9.css", "/assetsindex-9.css"]) {
    expect({ path, status: (await get(path)).status }).toEqual({ path, status: 404 });
  }
  const astray = ["/assets/..%2findex.html", "/assets/%2e%2e%2findex.html", "/..%2f..%2fetc%2fpasswd", "//etc/passwd"];
  for (const path of astray) expect({ path, status: (await get(path)).status }).toEqual({ path, status: 400 });
});

test("a dashboard that is not built says how to build it", async () => {
  const get = await serving({});
  const { status, text, headers } = await get("/");
  expect({ status, text, headers }).toEqual({
    status: 200,
    text: expect.stringContaining("npm run build"),
    headers: expect.objectContaining(walls),
  });
});
