import { readFile } from "node:fs/promises";
import { arch, release, type } from "node:os";
import type { EventData } from "@corral/protocol";
import { type Environment, runProcess, workspaceIn } from "../../../environments/index.ts";
import type { History } from "../../../sessions/index.ts";
import type { Topic } from "./topic.ts";

type Settings = EventData<"session.created">;

/** An environment, or what is known of one before it is open. */
export interface Spot {
  readonly state: Parameters<typeof workspaceIn>[0];
  readonly files?: Environment["files"];
}

/** Where the agent works and what it can reach there. `spot` undefined: it could not be opened. */
export async function environmentTopic(
  settings: Settings,
  spot: Spot | undefined,
  signal: AbortSignal,
): Promise<Topic> {
  const system = spot === undefined ? undefined : await systemOf(settings, spot, signal);
  const folder = spot === undefined ? "" : ` in ${workspaceIn(spot.state)}`;
  const lines = [
    `You work${folder}, ${settings.workspace === "in-place" ? "the user's own folder" : "a private copy of the user's repository"}, ${walls[settings.environment.kind]}.`,
    `System: ${system ?? type()}, kernel ${release()}, ${arch()}.`,
    `Network: ${networks[settings.environment.network]}.`,
    ...(settings.environment.access === "read" ? ["Files can be read and not changed."] : []),
    ...(settings.mode === "plan" ? ["The user wants a plan: change nothing, look, and say what you would do."] : []),
  ];
  return { name: "environment", text: lines.join("\n") };
}

const walls: Readonly<Record<Settings["environment"]["kind"], string>> = {
  jail: "in a sandbox",
  container: "in a container",
  local: "on the user's own machine without any sandbox: touch nothing outside of it",
};

const networks: Readonly<Record<Settings["environment"]["network"], string>> = {
  off: "none",
  allow: "by HTTP and HTTPS, to hosts that the user lists; a host that is refused can be allowed by the user alone",
  open: "open",
};

/** A container has one of its own; everywhere else it is the machine's, which need not be asked for in there. */
async function systemOf(
  { environment: { kind } }: Settings,
  { files }: Spot,
  signal: AbortSignal,
): Promise<string | undefined> {
  const read =
    kind === "container" && files !== undefined
      ? files.read(osRelease, { bytes: 4096, signal, timeoutMs: patienceMs }).then(({ bytes }) => bytes)
      : readFile(osRelease, { signal });
  const text = await read.then(String).catch(() => "");
  return /^PRETTY_NAME="?([^"\n]{1,100})/m.exec(text)?.[1];
}

const osRelease = "/etc/os-release";

export function dateTopic(now: Date): Topic {
  return { name: "date", text: `Today is ${now.toISOString().slice(0, 10)}.` };
}

/** What the copy lacks, and a set-up that failed. */
export function workspaceTopic({ workspace, setup }: Pick<History, "workspace" | "setup">): Topic | undefined {
  const { submodules = [], lfs = false } = workspace?.lacks ?? {};
  const lines = [
    ...(submodules.length > 0
      ? [`Submodules are not fetched; these folders are empty: ${submodules.join(", ")}.`]
      : []),
    ...(lfs ? ["Files kept by Git LFS are there as pointers, without their content."] : []),
    ...(setup?.state === "failed" ? ["The project's set-up command failed in this copy; things may be missing."] : []),
  ];
  return lines.length === 0 ? undefined : { name: "workspace", text: lines.join("\n") };
}

/**
 * What git would tell of a copy that was made just now, in which nobody has been: running it takes as long as all else that is told. Undefined:
 * there may be more to tell.
 */
export function untouchedGitTopic({ settings, workspace }: Pick<History, "settings" | "workspace">): Topic | undefined {
  if (settings === undefined || workspace === undefined || workspace.base === "") return undefined;
  const isPlain = workspace.way === "spare" || workspace.way === "shared objects";
  const hasMore = settings.base === "dirty" || (workspace.extras ?? []).length > 0 || workspace.lacks?.lfs === true;
  return isPlain && !hasMore ? gitWords(workspace.branch, workspace.base, "nothing is uncommitted") : undefined;
}

function gitWords(branch: string | undefined, commit: string | undefined, state: string): Topic {
  return { name: "git", text: `Git: branch ${branch ?? "(none)"} at ${commit?.slice(0, 12) ?? "?"}; ${state}.` };
}

/** Which branch it is on and how much is not committed, by git in the environment. Undefined: git does not tell, or takes too long. */
export async function gitTopic(environment: Environment, signal: AbortSignal): Promise<Topic | undefined> {
  let output = "";
  const end = await runProcess((program) => environment.spawn(program), {
    argv: ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch"],
    onOutput(chunk) {
      output += chunk.toString();
      return output.length < mostOutput;
    },
    timeoutMs: patienceMs,
    signal,
  }).catch(() => undefined);
  if (end === undefined || end.kind === "too slow" || (end.kind === "ended" && end.exitCode !== 0)) return undefined;
  const lines = output.split("\n").filter((line) => line !== "");
  const head = (name: string) =>
    lines.find((line) => line.startsWith(`# branch.${name} `))?.slice(`# branch.${name} `.length);
  const changed = lines.filter((line) => !line.startsWith("#")).length;
  const files = `${end.kind === "enough" ? "more than " : ""}${changed} file${changed === 1 ? "" : "s"}`;
  const state = changed === 0 ? "nothing is uncommitted" : `${files} changed or new and not committed`;
  return gitWords(head("head"), head("oid"), state);
}

const patienceMs = 3000;
const mostOutput = 256 * 1024;
