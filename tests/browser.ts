import { existsSync } from "node:fs";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll } from "vitest";

const program = "/usr/bin/chromium";

/** For whatever a browser does, its start too. */
const patienceMs = 120_000;

export const browserIsMissing = !existsSync(program);

/** A browser as one person has it: a page, and nothing in common with others', though all are one process. Reaches nothing by itself. */
export interface Browser extends AsyncDisposable {
  readonly page: Page;
  /** What pages complained about: errors, refused policies, failed requests. */
  readonly complaints: readonly string[];
}

/** For the stories of one file, whose process ends with them. */
export function browsers(): () => Promise<Browser> {
  const args = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  let launched: ReturnType<typeof chromium.launch> | undefined;
  afterAll(async () => (await launched)?.close());
  return async () => {
    launched ??= chromium.launch({ executablePath: program, args, timeout: patienceMs });
    return openIn(await (await launched).newContext({ viewport: { width: 1000, height: 760 } }));
  };
}

async function openIn(context: BrowserContext): Promise<Browser> {
  context.setDefaultTimeout(patienceMs);
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
    page: await context.newPage(),
    complaints,
    [Symbol.asyncDispose]: () => context.close(),
  };
}
