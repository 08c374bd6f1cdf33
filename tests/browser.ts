import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";

const program = "/usr/bin/chromium";

export const browserIsMissing = !existsSync(program);

/** A browser with one page and a profile of its own, that reaches nothing by itself. */
export interface Browser extends AsyncDisposable {
  readonly page: Page;
  /** What pages complained about: errors, refused policies, failed requests. */
  readonly complaints: readonly string[];
}

export async function openBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), "corral-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: program,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
    viewport: { width: 1000, height: 760 },
  });
  const complaints: string[] = [];
  context.on("weberror", (error) => complaints.push(error.error().message));
  context.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  await context.exposeFunction("complain", (about: string) => complaints.push(about));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
      (globalThis as unknown as { complain(about: string): void }).complain(`${violatedDirective}: ${blockedURI}`);
    });
  });
  return {
    page: context.pages()[0] ?? (await context.newPage()),
    complaints,
    async [Symbol.asyncDispose]() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
