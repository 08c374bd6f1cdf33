import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { describeTerminals } from "../terminals/conformance.ts";
import { openDriver } from "./testing/driver.ts";
