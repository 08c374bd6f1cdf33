import { chownSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ArtifactNamed, type CallChange, CorralError, newId } from "@corral/protocol";
import { type Environment, type EnvironmentDriver, planOf, removeFolder } from "../../environments/index.ts";
import { openJailDriver } from "../../environments/jail/index.ts";
import { openLocalDriver } from "../../environments/local/index.ts";
import type { Call, Entry, Turn } from "../../sessions/index.ts";
import { seenIn } from "../seen.ts";
import type { Tool, ToolContext } from "../tool.ts";

/** An environment with an empty workspace, and calls in it as a session makes them. */
export interface ToolBench {
  readonly environment: Environment;
  /** Makes a call and takes it to its end; what it says is what the model reads. */
  call<A, R>(tool: Tool<A, R>, call: A): Promise<string>;
  /** A call that has started, to be gone on with as if everything had died there. */
  begin<A, R>(tool: Tool<A, R>, call: A): Promise<Begun<R>>;
  run(command: string): Promise<string>;
  content(path: string): Promise<string>;
  /** What was kept as artifacts, by their ids. */
  readonly kept: ReadonlyMap<string, string>;
  end(): Promise<void>;
}

export interface Begun<R> {
  readonly intended: readonly CallChange[];
  run(): Promise<R>;
  recover(): ReturnType<NonNullable<Tool["recover"]>>;
}

export const kinds = ["jail", "local"] as const;

export async function openBench(kind: (typeof kinds)[number]): Promise<ToolBench> {
  const home = mkdtempSync(join(tmpdir(), "corral-tools-"));
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  const driver = driverOf(kind, home);
  const owner = await driver.newOwner?.();
  if (owner !== undefined) chownSync(workspace, owner.uid, owner.gid);
  const network = kind === "local" ? "open" : "off";
  const environment = await driver.open(planOf({ id: newId("environment"), workspace, network }));
  const turn = { kind: "turn", calls: [] as Call[] } as unknown as Turn;
  const entries: Entry[] = [turn];
  const kept = new Map<string, string>();
  let count = 0;

  const contextFor = (intended: readonly CallChange[]): ToolContext => ({
    id: `cal_${count++}`,
    signal: new AbortController().signal,
    call: (name) => Promise.reject(new CorralError("capability.missing", `There is no daemon to ask for ${name}.`)),
    surroundings: {
      environment: () => Promise.resolve(environment),
      place: () => Promise.resolve(environment),
      untouched: () => Promise.resolve(undefined),
      kept: () => Promise.resolve(),
      earlier: () => Promise.resolve({ kind: "open", results: environment.shell }),
    },
    seen: seenIn(entries),
    intended,
    record: () => undefined,
    beside: undefined,
    onOutput: () => undefined,
    keepImage: async (bytes) => {
      kept.set("art_image", bytes.toString("base64"));
      return "art_image";
    },
    place: () => placeIn(kept, `art_${count}`),
  });

  async function begin<A, R>(tool: Tool<A, R>, call: A): Promise<Begun<R>> {
    const intended = (await tool.intend?.(call, contextFor([]))) ?? [];
    return {
      intended,
      run: () => tool.run(call, contextFor(intended)),
      recover: () => tool.recover!(contextFor(intended)),
    };
  }

  return {
    environment,
    kept,
    begin,
    async call(tool, call) {
      try {
        const result = await (await begin(tool, tool.parameters.parse(call))).run();
        turn.calls.push({ end: { kind: "settled", result } } as unknown as Call);
        return tool.describe(result).text;
      } catch (error) {
        if (!(error instanceof CorralError)) throw error;
        return `${error.code}: ${error.message}`;
      }
    },
    async run(text) {
      const { stdout, stderr } = await environment.shell.run({
        id: `cal_${count++}`,
        text: `( ${text} )`,
        timeoutMs: 60_000,
      });
      return stdout + stderr;
    },
    content: async (path) => (await environment.files.read(path)).bytes.toString(),
    async end() {
      await environment.end();
      await removeFolder(home);
    },
  };
}

function driverOf(kind: (typeof kinds)[number], home: string): EnvironmentDriver {
  if (kind === "jail") return openJailDriver({ home });
  return openLocalDriver({ home, variables: { PATH: process.env["PATH"], HOME: home } });
}

function placeIn(kept: Map<string, string>, id: string): ReturnType<ToolContext["place"]> {
  const named = () => ({ id, bytes: Buffer.byteLength(kept.get(id) ?? "") }) as unknown as ArtifactNamed;
  return {
    begin: async () => named(),
    append: async (bytes) => {
      kept.set(id, (kept.get(id) ?? "") + Buffer.from(bytes).toString());
      return named();
    },
    finish: async () => named(),
  };
}
