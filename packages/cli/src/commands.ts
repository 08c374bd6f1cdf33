import type { Command } from "./command.ts";
import { commands as artifacts } from "./artifacts/commands.ts";
import { commands as audit } from "./audit/commands.ts";
import { commands as backups } from "./backups/commands.ts";
import { commands as completion } from "./completion/commands.ts";
import { commands as config } from "./config/commands.ts";
import { commands as credentials } from "./credentials/commands.ts";
import { commands as daemon } from "./daemon/commands.ts";
import { commands as dashboard } from "./dashboard/commands.ts";
import { commands as demo } from "./demo/commands.ts";
import { commands as events } from "./events/commands.ts";
import { commands as inputs } from "./inputs/commands.ts";
import { commands as models } from "./models/commands.ts";
import { commands as network } from "./network/commands.ts";
import { commands as projects } from "./projects/commands.ts";
import { commands as questions } from "./questions/commands.ts";
import { commands as rehearsal } from "./rehearsal/commands.ts";
import { commands as rules } from "./rules/commands.ts";
import { commands as sessions } from "./sessions/commands.ts";
import { commands as shells } from "./shells/commands.ts";
import { commands as snapshots } from "./snapshots/commands.ts";
import { commands as tokens } from "./tokens/commands.ts";
import { commands as usage } from "./usage/commands.ts";
import { commands as workspaces } from "./workspaces/commands.ts";

/** Every command, in the order in which the help lists them. Their code is loaded when they are used. */
export const commands: readonly Command[] = [
  demo,
  sessions,
  inputs,
  questions,
  workspaces,
  snapshots,
  artifacts,
  shells,
  dashboard,
  events,
  rehearsal,
  rules,
  network,
  audit,
  models,
  usage,
  credentials,
  tokens,
  projects,
  config,
  backups,
  daemon,
  completion,
].flat();
