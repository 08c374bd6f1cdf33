import { artifacts } from "./artifacts.ts";
import { audit } from "./audit.ts";
import { config } from "./config.ts";
import { credentials } from "./credentials.ts";
import { daemon } from "./daemon.ts";
import { events } from "./events.ts";
import { inputs } from "./inputs.ts";
import { login } from "./login.ts";
import { models } from "./models.ts";
import { network } from "./network.ts";
import { pages } from "./pages.ts";
import { projects } from "./projects.ts";
import { questions } from "./questions.ts";
import { rules } from "./rules.ts";
import { sessions } from "./sessions.ts";
import { shells } from "./shells.ts";
import { snapshots } from "./snapshots.ts";
import { terminals } from "./terminals.ts";
import { tokens } from "./tokens.ts";
import { workspaces } from "./workspaces.ts";

/** All routes by their nouns, in the order of the OpenAPI document. */
export const nouns = {
  daemon,
  login,
  tokens,
  config,
  credentials,
  models,
  projects,
  sessions,
  inputs,
  shells,
  terminals,
  workspaces,
  artifacts,
  snapshots,
  questions,
  network,
  rules,
  audit,
  events,
  pages,
} as const;

export type Noun = keyof typeof nouns;

/** The one table of the daemon's API: who may ask what, with which words, and what is answered. */
export const routes = Object.assign({}, ...Object.values(nouns)) as Routes;

export type Routes = All<(typeof nouns)[Noun]>;
export type RouteName = keyof Routes;

type All<T> = (T extends unknown ? (each: T) => void : never) extends (all: infer I) => void ? I : never;
