/**
 * The daemon's API as its OpenAPI document tells it. Made by `npm run generate`; not to be edited. A test compares it with
 * what the document says by now.
 */
/** Every route, by its method and path: what is put into it and what it answers. */
export interface Api {
  /** Tells that a daemon is there, and its version. */
  "GET /healthz": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: { ok: true; version: string };
  };
  /** Tells what the daemon says of itself: its sessions, places, runners and disk. */
  "GET /api/status": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      version: string;
      pid: number;
      url: string;
      home: string;
      uptimeSeconds: number;
      sessions: { idle: number; thinking: number; waiting: number; recovering: number; failed: number; parked: number };
      places: {
        sessions: { taken: number; most: number };
        environments: { taken: number; most: number };
        inLine: number;
      };
      shortage?: { sessions: number; message: string; hint?: string | undefined } | undefined;
      runners: { pid: number; sessions: number }[];
      disk: { freeBytes: number; databaseBytes: number; logBytes: number };
      database: { isSuspect: boolean; damaged: string[] };
      seq: number;
    };
  };
  /** Examines the machine as the daemon finds it; a jail is really tried. */
  "GET /api/doctor": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      findings: {
        name: string;
        state: "ok" | "warning" | "failed";
        found: string;
        why: string;
        fix?: string | undefined;
      }[];
    };
  };
  /** Stops the daemon once this is answered. */
  "POST /api/daemon/stop": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: { now?: boolean | undefined };
    answer: { kind: "stopping" };
  };
  /** Writes a consistent copy of the log into the folder `backups` of the daemon's home, and tells where it is. */
  "POST /api/backups": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: Record<string, never>;
    answer: { path: string; bytes: number; events: number; seq: number };
  };
  /** Tells figures in the text format of Prometheus. */
  "GET /metrics": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: string;
  };
  /** Makes a code that lets one browser in, once, within a minute. */
  "POST /api/login/codes": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: Record<string, never>;
    answer: { code: string; expiresInSeconds: number };
  };
  /** Begins a visit with a code; from then on the browser's cookie stands for the token. */
  "POST /api/login": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: { code: string };
    answer: { kind: "logged-in" };
  };
  /** Ends the visit. */
  "POST /api/logout": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: Record<string, never>;
    answer: { kind: "logged-out" };
  };
  /** Lists tokens, without their secrets. */
  "GET /api/tokens": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      tokens: {
        id: `tok_${string}`;
        name: string;
        person: string;
        scope: "read" | "prompt" | "operate" | "admin";
        project?: `prj_${string}` | undefined;
        session?: `ses_${string}` | undefined;
        expiresAt?: string | undefined;
        madeWith?: `tok_${string}` | undefined;
        state: "valid" | "expired" | "revoked";
      }[];
    };
  };
  /** Makes a token; its secret is told this once. */
  "POST /api/tokens": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      name: string;
      person?: string | undefined;
      scope?: "read" | "prompt" | "operate" | "admin" | undefined;
      project?: `prj_${string}` | undefined;
      session?: `ses_${string}` | undefined;
      expiresInSeconds?: number | undefined;
    };
    answer: {
      id: `tok_${string}`;
      name: string;
      person: string;
      scope: "read" | "prompt" | "operate" | "admin";
      project?: `prj_${string}` | undefined;
      session?: `ses_${string}` | undefined;
      expiresAt?: string | undefined;
      madeWith?: `tok_${string}` | undefined;
      state: "valid" | "expired" | "revoked";
      token: string;
    };
  };
  /** Ends a token, those made with it, and all they have open. */
  "POST /api/tokens/{id}/revoke": {
    path: { id: `tok_${string}` };
    query: Record<string, never>;
    body: Record<string, never>;
    answer: { kind: "revoked" | "already-revoked"; id: `tok_${string}` };
  };
  /** Tells every setting with its value and where that is from. */
  "GET /api/config": {
    path: Record<string, never>;
    query: { project?: `prj_${string}` | undefined };
    body: undefined;
    answer: {
      project?: `prj_${string}` | undefined;
      entries: {
        key:
          | "model"
          | "turnLimit"
          | "callLimit"
          | "tools"
          | "workspace.spare"
          | "workspace.copy"
          | "workspace.setup"
          | "workspace.setupFailure"
          | "workspace.idleDays"
          | "workspace.discardedDays"
          | "snapshots.days"
          | "snapshots.most"
          | "snapshots.largestMb"
          | "snapshots.ignored"
          | "workspace.maxMb"
          | "workspace.totalMb"
          | "gateway.host"
          | "gateway.port"
          | "gateway.allowedHosts"
          | "network.allow"
          | "network.askSeconds"
          | "sessions.atOnce"
          | "sessions.atOncePerProject"
          | "environments.atOnce"
          | "environments.atOncePerProject"
          | "runners"
          | "drainSeconds"
          | "retention.days"
          | "retention.events"
          | "artifacts.maxBytes"
          | "artifacts.sessionMaxBytes"
          | "artifacts.days"
          | "limits.pids"
          | "limits.memoryMb"
          | "limits.cpus"
          | "limits.diskMb"
          | "limits.outputMb"
          | "container.image"
          | "container.volumes"
          | "models"
          | "providers.openai.api"
          | "providers.openai.store"
          | "providers.compatible"
          | "providers.firstByteSeconds"
          | "providers.silenceSeconds"
          | "rehearsal.scripts"
          | "logs.level";
        value: unknown;
        origin:
          | { kind: "default" }
          | {
              kind: "file";
              layer: "user" | "project" | "local";
              file: string;
              line: number;
              lastGood?: true | undefined;
            }
          | { kind: "variable"; name: string }
          | { kind: "flag"; name: string };
        default: unknown;
        description: string;
        takesEffect: "now" | "next-session" | "restart";
        restartNeeded: boolean;
      }[];
      files: {
        layer: "user" | "project" | "local";
        file: string;
        state: "absent" | "applied" | "untrusted" | "rejected";
        version?: number | undefined;
        problem?: { line: number; column: number; message: string } | undefined;
      }[];
      refusedVariables: { name: string; message: string }[];
      seq: number;
    };
  };
  /** Changes a setting in one of the files. */
  "PUT /api/config": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      key:
        | "model"
        | "turnLimit"
        | "callLimit"
        | "tools"
        | "workspace.spare"
        | "workspace.copy"
        | "workspace.setup"
        | "workspace.setupFailure"
        | "workspace.idleDays"
        | "workspace.discardedDays"
        | "snapshots.days"
        | "snapshots.most"
        | "snapshots.largestMb"
        | "snapshots.ignored"
        | "workspace.maxMb"
        | "workspace.totalMb"
        | "gateway.host"
        | "gateway.port"
        | "gateway.allowedHosts"
        | "network.allow"
        | "network.askSeconds"
        | "sessions.atOnce"
        | "sessions.atOncePerProject"
        | "environments.atOnce"
        | "environments.atOncePerProject"
        | "runners"
        | "drainSeconds"
        | "retention.days"
        | "retention.events"
        | "artifacts.maxBytes"
        | "artifacts.sessionMaxBytes"
        | "artifacts.days"
        | "limits.pids"
        | "limits.memoryMb"
        | "limits.cpus"
        | "limits.diskMb"
        | "limits.outputMb"
        | "container.image"
        | "container.volumes"
        | "models"
        | "providers.openai.api"
        | "providers.openai.store"
        | "providers.compatible"
        | "providers.firstByteSeconds"
        | "providers.silenceSeconds"
        | "rehearsal.scripts"
        | "logs.level";
      value: unknown;
      layer?: "user" | "project" | "local" | undefined;
      how?: "replace" | "add" | "remove" | undefined;
      project?: `prj_${string}` | undefined;
    };
    answer: {
      project?: `prj_${string}` | undefined;
      entries: {
        key:
          | "model"
          | "turnLimit"
          | "callLimit"
          | "tools"
          | "workspace.spare"
          | "workspace.copy"
          | "workspace.setup"
          | "workspace.setupFailure"
          | "workspace.idleDays"
          | "workspace.discardedDays"
          | "snapshots.days"
          | "snapshots.most"
          | "snapshots.largestMb"
          | "snapshots.ignored"
          | "workspace.maxMb"
          | "workspace.totalMb"
          | "gateway.host"
          | "gateway.port"
          | "gateway.allowedHosts"
          | "network.allow"
          | "network.askSeconds"
          | "sessions.atOnce"
          | "sessions.atOncePerProject"
          | "environments.atOnce"
          | "environments.atOncePerProject"
          | "runners"
          | "drainSeconds"
          | "retention.days"
          | "retention.events"
          | "artifacts.maxBytes"
          | "artifacts.sessionMaxBytes"
          | "artifacts.days"
          | "limits.pids"
          | "limits.memoryMb"
          | "limits.cpus"
          | "limits.diskMb"
          | "limits.outputMb"
          | "container.image"
          | "container.volumes"
          | "models"
          | "providers.openai.api"
          | "providers.openai.store"
          | "providers.compatible"
          | "providers.firstByteSeconds"
          | "providers.silenceSeconds"
          | "rehearsal.scripts"
          | "logs.level";
        value: unknown;
        origin:
          | { kind: "default" }
          | {
              kind: "file";
              layer: "user" | "project" | "local";
              file: string;
              line: number;
              lastGood?: true | undefined;
            }
          | { kind: "variable"; name: string }
          | { kind: "flag"; name: string };
        default: unknown;
        description: string;
        takesEffect: "now" | "next-session" | "restart";
        restartNeeded: boolean;
      }[];
      files: {
        layer: "user" | "project" | "local";
        file: string;
        state: "absent" | "applied" | "untrusted" | "rejected";
        version?: number | undefined;
        problem?: { line: number; column: number; message: string } | undefined;
      }[];
      refusedVariables: { name: string; message: string }[];
      seq: number;
    };
  };
  /** Rewrites files of settings in today's version. */
  "POST /api/config/upgrade": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: { project?: `prj_${string}` | undefined };
    answer: { upgraded: { file: string; from: number; to: number }[] };
  };
  /** Tells where each provider's key is from. */
  "GET /api/credentials": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      credentials: {
        provider: string;
        source: "variable" | "key" | "command" | null;
        variable: string;
        program?: string | undefined;
        isNeeded: boolean;
      }[];
    };
  };
  /** Keeps a provider's key, or the command that prints it. */
  "PUT /api/credentials/{provider}": {
    path: { provider: string };
    query: Record<string, never>;
    body: { key: string } | { command: string[] };
    answer: { provider: string; kind: "stored" | "removed" | "nothing" };
  };
  /** Forgets a provider's key. */
  "DELETE /api/credentials/{provider}": {
    path: { provider: string };
    query: Record<string, never>;
    body: undefined;
    answer: { provider: string; kind: "stored" | "removed" | "nothing" };
  };
  /** Asks the provider whether it takes the key, which costs nothing. */
  "POST /api/credentials/{provider}/test": {
    path: { provider: string };
    query: Record<string, never>;
    body: Record<string, never>;
    answer: {
      provider: string;
      outcome: "accepted" | "refused" | "unavailable";
      message: string;
      hint?: string | undefined;
    };
  };
  /** Lists models with what is known of them; providers that list theirs are asked. */
  "GET /api/models": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      models: {
        name: string;
        facts: {
          context?: number | undefined;
          prices?:
            | {
                input?: number | { base: number; tiers: { above: number; price: number }[] } | undefined;
                output?: number | { base: number; tiers: { above: number; price: number }[] } | undefined;
                cacheRead?: number | { base: number; tiers: { above: number; price: number }[] } | undefined;
                cacheWrite?: number | { base: number; tiers: { above: number; price: number }[] } | undefined;
              }
            | undefined;
          images?: boolean | undefined;
          reasoning?: boolean | undefined;
          effort?: "low" | "medium" | "high" | undefined;
          tools?: boolean | undefined;
        };
        source: "built-in" | "settings" | "provider";
        isReachable: boolean;
      }[];
      seq: number;
    };
  };
  /** Sums up what models were asked and what it cost. */
  "GET /api/usage": {
    path: Record<string, never>;
    query: { by?: "model" | "session" | "project" | "day" | undefined };
    body: undefined;
    answer: {
      by: "model" | "session" | "project" | "day";
      groups: {
        requests: number;
        inputTokens: number;
        outputTokens: number;
        cachedInputTokens: number;
        cacheWriteTokens: number;
        reasoningTokens: number;
        costUsd: number;
        unpriced: number;
        name: string;
      }[];
      total: {
        requests: number;
        inputTokens: number;
        outputTokens: number;
        cachedInputTokens: number;
        cacheWriteTokens: number;
        reasoningTokens: number;
        costUsd: number;
        unpriced: number;
      };
      seq: number;
    };
  };
  /** Registers the repository that a folder belongs to. */
  "POST /api/projects": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: { path: string };
    answer: { id: `prj_${string}`; path: string; name: string; present: boolean; seq: number; worktree: string };
  };
  /** Lists all projects, or the one that the folder `path` belongs to; only for an admin's token without bounds are folders looked at that belong to no project it sees. */
  "GET /api/projects": {
    path: Record<string, never>;
    query: { path?: string | undefined };
    body: undefined;
    answer: { projects: { id: `prj_${string}`; path: string; name: string; present: boolean; seq: number }[] };
  };
  /** Forgets a project; its folder stays as it is. */
  "POST /api/projects/{id}/forget": {
    path: { id: `prj_${string}` };
    query: Record<string, never>;
    body: Record<string, never>;
    answer: { kind: "forgotten" };
  };
  /** Tells which settings the project's folder brings along, and which of them are trusted. */
  "GET /api/projects/{id}/trust": {
    path: { id: `prj_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      project: `prj_${string}`;
      files: (
        | { state: "trusted"; path: string; sha256: string; content: string }
        | { state: "untrusted"; path: string; sha256: string; content: string }
        | { state: "unreadable"; path: string; reason: string }
      )[];
      seq: number;
    };
  };
  /** Lets files of settings count, by the hashes of what was shown. */
  "POST /api/projects/{id}/trust": {
    path: { id: `prj_${string}` };
    query: Record<string, never>;
    body: { files: { [key: string]: string } };
    answer: {
      project: `prj_${string}`;
      files: (
        | { state: "trusted"; path: string; sha256: string; content: string }
        | { state: "untrusted"; path: string; sha256: string; content: string }
        | { state: "unreadable"; path: string; reason: string }
      )[];
      seq: number;
    };
  };
  /** Makes a session. */
  "POST /api/sessions": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      projectId: `prj_${string}`;
      worktree?: string | undefined;
      agent?: string | undefined;
      model?: string | undefined;
      effort?: "low" | "medium" | "high" | undefined;
      mode?: "plan" | "ask" | "auto" | undefined;
      environment?:
        | {
            kind?: "jail" | "container" | "local" | undefined;
            network?: "off" | "allow" | "open" | undefined;
            access?: "read" | "write" | undefined;
            allow?: string[] | undefined;
            image?: string | undefined;
          }
        | undefined;
      workspace?: "copy" | "in-place" | undefined;
      base?: "head" | "dirty" | { snapshot: `snp_${string}` } | undefined;
      turnLimit?: number | undefined;
      tools?: string[] | undefined;
    };
    answer: {
      id: `ses_${string}`;
      projectId: `prj_${string}`;
      title: string;
      agent: string;
      model: string;
      mode: "plan" | "ask" | "auto";
      environment: {
        kind: "jail" | "container" | "local";
        network: "off" | "allow" | "open";
        access?: "read" | "write" | undefined;
        allow?: string[] | undefined;
        image?: string | undefined;
        volumes?: { [key: string]: string } | undefined;
      };
      workspace: "copy" | "in-place";
      state:
        | { state: "idle"; since: string }
        | { state: "thinking"; since: string; activityId: `act_${string}` }
        | {
            state: "waiting";
            since: string;
            activityId: `act_${string}`;
            on: "recovery" | "continue" | "question";
            calls: `cal_${string}`[];
            questions: `que_${string}`[];
          }
        | {
            state: "waiting";
            since: string;
            on: "place";
            limit:
              | "sessions.atOnce"
              | "sessions.atOncePerProject"
              | "environments.atOnce"
              | "environments.atOncePerProject";
            most: number;
            position: number;
          }
        | { state: "recovering"; since: string; activityId: `act_${string}`; reason: string }
        | { state: "failed"; since: string; activityId: `act_${string}`; message: string }
        | { state: "parked"; since: string; inputs: number };
      inbox: { waiting: number; isParked: boolean };
      isArchived: boolean;
      todo?: { text: string; state: "open" | "doing" | "done" }[] | undefined;
      seq: number;
    };
  };
  /** Lists sessions; with `archived` those that are archived, too. */
  "GET /api/sessions": {
    path: Record<string, never>;
    query: { archived?: "0" | "1" | undefined };
    body: undefined;
    answer: {
      sessions: {
        id: `ses_${string}`;
        projectId: `prj_${string}`;
        title: string;
        agent: string;
        model: string;
        mode: "plan" | "ask" | "auto";
        environment: {
          kind: "jail" | "container" | "local";
          network: "off" | "allow" | "open";
          access?: "read" | "write" | undefined;
          allow?: string[] | undefined;
          image?: string | undefined;
          volumes?: { [key: string]: string } | undefined;
        };
        workspace: "copy" | "in-place";
        state:
          | { state: "idle"; since: string }
          | { state: "thinking"; since: string; activityId: `act_${string}` }
          | {
              state: "waiting";
              since: string;
              activityId: `act_${string}`;
              on: "recovery" | "continue" | "question";
              calls: `cal_${string}`[];
              questions: `que_${string}`[];
            }
          | {
              state: "waiting";
              since: string;
              on: "place";
              limit:
                | "sessions.atOnce"
                | "sessions.atOncePerProject"
                | "environments.atOnce"
                | "environments.atOncePerProject";
              most: number;
              position: number;
            }
          | { state: "recovering"; since: string; activityId: `act_${string}`; reason: string }
          | { state: "failed"; since: string; activityId: `act_${string}`; message: string }
          | { state: "parked"; since: string; inputs: number };
        inbox: { waiting: number; isParked: boolean };
        isArchived: boolean;
        todo?: { text: string; state: "open" | "doing" | "done" }[] | undefined;
        seq: number;
      }[];
    };
  };
  /** Makes a session and says the first thing to it, both or neither; sent again with the same input, with or without an Idempotency-Key, it answers with the session that has it. */
  "POST /api/sessions/begin": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      projectId: `prj_${string}`;
      worktree?: string | undefined;
      agent?: string | undefined;
      model?: string | undefined;
      effort?: "low" | "medium" | "high" | undefined;
      mode?: "plan" | "ask" | "auto" | undefined;
      environment?:
        | {
            kind?: "jail" | "container" | "local" | undefined;
            network?: "off" | "allow" | "open" | undefined;
            access?: "read" | "write" | undefined;
            allow?: string[] | undefined;
            image?: string | undefined;
          }
        | undefined;
      workspace?: "copy" | "in-place" | undefined;
      base?: "head" | "dirty" | { snapshot: `snp_${string}` } | undefined;
      turnLimit?: number | undefined;
      tools?: string[] | undefined;
      input: {
        id: `inp_${string}`;
        text: string;
        attachments?: { name: string; mediaType: string; reference: string }[] | undefined;
        delivery?: "steer" | "queue" | undefined;
      };
    };
    answer: {
      session: {
        id: `ses_${string}`;
        projectId: `prj_${string}`;
        title: string;
        agent: string;
        model: string;
        mode: "plan" | "ask" | "auto";
        environment: {
          kind: "jail" | "container" | "local";
          network: "off" | "allow" | "open";
          access?: "read" | "write" | undefined;
          allow?: string[] | undefined;
          image?: string | undefined;
          volumes?: { [key: string]: string } | undefined;
        };
        workspace: "copy" | "in-place";
        state:
          | { state: "idle"; since: string }
          | { state: "thinking"; since: string; activityId: `act_${string}` }
          | {
              state: "waiting";
              since: string;
              activityId: `act_${string}`;
              on: "recovery" | "continue" | "question";
              calls: `cal_${string}`[];
              questions: `que_${string}`[];
            }
          | {
              state: "waiting";
              since: string;
              on: "place";
              limit:
                | "sessions.atOnce"
                | "sessions.atOncePerProject"
                | "environments.atOnce"
                | "environments.atOncePerProject";
              most: number;
              position: number;
            }
          | { state: "recovering"; since: string; activityId: `act_${string}`; reason: string }
          | { state: "failed"; since: string; activityId: `act_${string}`; message: string }
          | { state: "parked"; since: string; inputs: number };
        inbox: { waiting: number; isParked: boolean };
        isArchived: boolean;
        todo?: { text: string; state: "open" | "doing" | "done" }[] | undefined;
        seq: number;
      };
      seq: number;
    };
  };
  /** Finds sessions, archived ones too, in which all the words were said in one place, by a person, by the agent or in their title; the best first. */
  "GET /api/sessions/search": {
    path: Record<string, never>;
    query: { words: string; limit?: number | undefined };
    body: undefined;
    answer: {
      found: {
        id: `ses_${string}`;
        projectId: `prj_${string}`;
        title: string;
        isArchived: boolean;
        in: "title" | "input" | "reply";
        at: number;
        pieces: { text: string; isHit: boolean }[];
        hits: number;
      }[];
      seq: number;
    };
  };
  /** Tells how a session stands. */
  "GET /api/sessions/{id}": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      id: `ses_${string}`;
      projectId: `prj_${string}`;
      title: string;
      agent: string;
      model: string;
      mode: "plan" | "ask" | "auto";
      environment: {
        kind: "jail" | "container" | "local";
        network: "off" | "allow" | "open";
        access?: "read" | "write" | undefined;
        allow?: string[] | undefined;
        image?: string | undefined;
        volumes?: { [key: string]: string } | undefined;
      };
      workspace: "copy" | "in-place";
      state:
        | { state: "idle"; since: string }
        | { state: "thinking"; since: string; activityId: `act_${string}` }
        | {
            state: "waiting";
            since: string;
            activityId: `act_${string}`;
            on: "recovery" | "continue" | "question";
            calls: `cal_${string}`[];
            questions: `que_${string}`[];
          }
        | {
            state: "waiting";
            since: string;
            on: "place";
            limit:
              | "sessions.atOnce"
              | "sessions.atOncePerProject"
              | "environments.atOnce"
              | "environments.atOncePerProject";
            most: number;
            position: number;
          }
        | { state: "recovering"; since: string; activityId: `act_${string}`; reason: string }
        | { state: "failed"; since: string; activityId: `act_${string}`; message: string }
        | { state: "parked"; since: string; inputs: number };
      inbox: { waiting: number; isParked: boolean };
      isArchived: boolean;
      todo?: { text: string; state: "open" | "doing" | "done" }[] | undefined;
      seq: number;
    };
  };
  /** Takes a session away for good, with all it said and did, its environment and its workspace; refused in the middle of an activity. */
  "DELETE /api/sessions/{id}": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: { kind: "deleted" };
  };
  /** Ends the activity, now or at the end of its turn, and parks the queue. */
  "POST /api/sessions/{id}/interrupt": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: { at?: "now" | "boundary" | undefined };
    answer: { kind: "requested" | "parked" | "nothing-running" };
  };
  /** Decides on a call of which nobody can tell how it ended. */
  "POST /api/sessions/{id}/recovery": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: { call: `cal_${string}`; decision: "retry" | "abandon" };
    answer: { kind: "decided" };
  };
  /** Has a session go on, after a failure, an interrupt or its limit of turns, too: the model is asked at least once; with an id it counts once. */
  "POST /api/sessions/{id}/continue": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: { id?: `con_${string}` | undefined };
    answer: { kind: "continued" | "joined" } | { kind: "waits"; on: "question" | "recovery" };
  };
  /** Gives a session another title. */
  "POST /api/sessions/{id}/rename": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: { title: string };
    answer: { kind: "renamed" | "unchanged" };
  };
  /** Takes a session off the list; nothing of it runs until it is unarchived or something is said to it; refused in the middle of an activity. */
  "POST /api/sessions/{id}/archive": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: Record<string, never>;
    answer: { kind: "archived" | "unarchived" | "unchanged" };
  };
  /** Puts a session on the list again. */
  "POST /api/sessions/{id}/unarchive": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: Record<string, never>;
    answer: { kind: "archived" | "unarchived" | "unchanged" };
  };
  /** Keeps an image or a text as an artifact of the session, for an input that names it by this answer. */
  "POST /api/sessions/{id}/attachments": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: { name: string; base64: string };
    answer: { name: string; mediaType: string; reference: string };
  };
  /** Says something to a session; it is durable before this is answered, and counts once by its id. */
  "POST /api/sessions/{id}/inputs": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: {
      id: `inp_${string}`;
      text: string;
      attachments?: { name: string; mediaType: string; reference: string }[] | undefined;
      delivery?: "steer" | "queue" | undefined;
    };
    answer: {
      kind: "admitted" | "duplicate";
      input: {
        id: `inp_${string}`;
        text: string;
        attachments: { name: string; mediaType: string; reference: string }[];
        delivery: "steer" | "queue";
        state: "waiting" | "promoted" | "cancelled";
        activityId: `act_${string}` | null;
        version: number;
      };
      seq: number;
    };
  };
  /** Lists what waits to be taken up, in the order in which that will happen. */
  "GET /api/sessions/{id}/inputs": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      inputs: {
        id: `inp_${string}`;
        text: string;
        attachments: { name: string; mediaType: string; reference: string }[];
        delivery: "steer" | "queue";
        state: "waiting" | "promoted" | "cancelled";
        activityId: `act_${string}` | null;
        version: number;
      }[];
      isParked: boolean;
      seq: number;
    };
  };
  /** Cancels, edits, flips or promotes an input that was not taken up yet; with `version` only the input as it was seen. */
  "POST /api/sessions/{id}/inputs/{input}": {
    path: { id: `ses_${string}`; input: `inp_${string}` };
    query: Record<string, never>;
    body:
      | { change: "cancel"; version?: number | undefined }
      | { change: "edit"; text: string; version?: number | undefined }
      | { change: "flip"; delivery: "steer" | "queue"; version?: number | undefined }
      | { change: "promote"; to: "front" | "now"; version?: number | undefined };
    answer: {
      kind: "changed" | "unchanged";
      input: {
        id: `inp_${string}`;
        text: string;
        attachments: { name: string; mediaType: string; reference: string }[];
        delivery: "steer" | "queue";
        state: "waiting" | "promoted" | "cancelled";
        activityId: `act_${string}` | null;
        version: number;
      };
      seq: number;
    };
  };
  /** Parks the queue, or resumes one that was parked or interrupted. */
  "POST /api/sessions/{id}/queue": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: { decision: "park" | "resume" };
    answer: { kind: "parked" | "resumed" | "unchanged" };
  };
  /** Opens a shell. */
  "POST /api/shells": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      projectId?: `prj_${string}` | undefined;
      worktree?: string | undefined;
      environment?:
        | {
            kind?: "jail" | "container" | "local" | undefined;
            network?: "off" | "allow" | "open" | undefined;
            access?: "read" | "write" | undefined;
            allow?: string[] | undefined;
            image?: string | undefined;
          }
        | undefined;
      workspace?: "copy" | "in-place" | "scratch" | undefined;
    };
    answer: {
      id: `shl_${string}`;
      projectId?: `prj_${string}` | undefined;
      environment: {
        kind: "jail" | "container" | "local";
        network: "off" | "allow" | "open";
        access?: "read" | "write" | undefined;
        allow?: string[] | undefined;
        image?: string | undefined;
        volumes?: { [key: string]: string } | undefined;
      };
      workspace: "copy" | "in-place" | "scratch";
      path: string;
      actor: string;
      state: "open" | "resting" | "closed";
      seq: number;
    };
  };
  /** Lists people's shells. */
  "GET /api/shells": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      shells: {
        id: `shl_${string}`;
        projectId?: `prj_${string}` | undefined;
        environment: {
          kind: "jail" | "container" | "local";
          network: "off" | "allow" | "open";
          access?: "read" | "write" | undefined;
          allow?: string[] | undefined;
          image?: string | undefined;
          volumes?: { [key: string]: string } | undefined;
        };
        workspace: "copy" | "in-place" | "scratch";
        path: string;
        actor: string;
        state: "open" | "resting" | "closed";
        seq: number;
      }[];
    };
  };
  /** Tells how a shell stands. */
  "GET /api/shells/{id}": {
    path: { id: `shl_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      id: `shl_${string}`;
      projectId?: `prj_${string}` | undefined;
      environment: {
        kind: "jail" | "container" | "local";
        network: "off" | "allow" | "open";
        access?: "read" | "write" | undefined;
        allow?: string[] | undefined;
        image?: string | undefined;
        volumes?: { [key: string]: string } | undefined;
      };
      workspace: "copy" | "in-place" | "scratch";
      path: string;
      actor: string;
      state: "open" | "resting" | "closed";
      seq: number;
    };
  };
  /** Ends a shell; its files go unless something in them would be lost that git does not ignore. */
  "DELETE /api/shells/{id}": {
    path: { id: `shl_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      id: `shl_${string}`;
      kept?: string | undefined;
      ignored?: { paths: string[]; count: number } | undefined;
    };
  };
  /** Starts a command; sent again with its id, it is the same one. */
  "POST /api/shells/{id}/commands": {
    path: { id: `shl_${string}` };
    query: Record<string, never>;
    body: { id: `cmd_${string}`; text: string; timeoutMs?: number | undefined; after?: `cmd_${string}` | undefined };
    answer:
      | { id: `cmd_${string}`; shell: `shl_${string}`; state: "running" }
      | {
          id: `cmd_${string}`;
          shell: `shl_${string}`;
          state: "ended";
          result: {
            exitCode: number;
            stdout: string;
            stderr: string;
            stdoutBytes: number;
            stderrBytes: number;
            timedOut: boolean;
            limit?: "time" | "memory" | "pids" | "disk" | "output" | undefined;
            shellRespawned: boolean;
            artifacts?:
              | {
                  stdout?:
                    | {
                        id: `art_${string}`;
                        url: string;
                        bytes: number;
                        leftOut?: { bytes: number; because: "session quota" | "quota" | "disk" } | undefined;
                      }
                    | undefined;
                  stderr?:
                    | {
                        id: `art_${string}`;
                        url: string;
                        bytes: number;
                        leftOut?: { bytes: number; because: "session quota" | "quota" | "disk" } | undefined;
                      }
                    | undefined;
                }
              | undefined;
            heldBack?: { path: string; state: "aside" | "there"; folder?: string | undefined }[] | undefined;
          };
        }
      | {
          id: `cmd_${string}`;
          shell: `shl_${string}`;
          state: "past";
          facts: {
            exitCode: number;
            timedOut: boolean;
            limit?: "time" | "memory" | "pids" | "disk" | "output" | undefined;
            shellRespawned: boolean;
            stdoutBytes: number;
            stderrBytes: number;
            artifacts?:
              | {
                  stdout?:
                    | {
                        id: `art_${string}`;
                        url: string;
                        bytes: number;
                        leftOut?: { bytes: number; because: "session quota" | "quota" | "disk" } | undefined;
                      }
                    | undefined;
                  stderr?:
                    | {
                        id: `art_${string}`;
                        url: string;
                        bytes: number;
                        leftOut?: { bytes: number; because: "session quota" | "quota" | "disk" } | undefined;
                      }
                    | undefined;
                }
              | undefined;
            heldBack?: { path: string; state: "aside" | "there"; folder?: string | undefined }[] | undefined;
          };
        }
      | { id: `cmd_${string}`; shell: `shl_${string}`; state: "unknown"; reason: string };
  };
  /** Tells how a command stands, at once or after so many seconds at most. */
  "GET /api/shells/{id}/commands/{command}": {
    path: { id: `shl_${string}`; command: `cmd_${string}` };
    query: { wait?: number | undefined; follow?: "0" | "1" | undefined };
    body: undefined;
    answer:
      | { id: `cmd_${string}`; shell: `shl_${string}`; state: "running" }
      | {
          id: `cmd_${string}`;
          shell: `shl_${string}`;
          state: "ended";
          result: {
            exitCode: number;
            stdout: string;
            stderr: string;
            stdoutBytes: number;
            stderrBytes: number;
            timedOut: boolean;
            limit?: "time" | "memory" | "pids" | "disk" | "output" | undefined;
            shellRespawned: boolean;
            artifacts?:
              | {
                  stdout?:
                    | {
                        id: `art_${string}`;
                        url: string;
                        bytes: number;
                        leftOut?: { bytes: number; because: "session quota" | "quota" | "disk" } | undefined;
                      }
                    | undefined;
                  stderr?:
                    | {
                        id: `art_${string}`;
                        url: string;
                        bytes: number;
                        leftOut?: { bytes: number; because: "session quota" | "quota" | "disk" } | undefined;
                      }
                    | undefined;
                }
              | undefined;
            heldBack?: { path: string; state: "aside" | "there"; folder?: string | undefined }[] | undefined;
          };
        }
      | {
          id: `cmd_${string}`;
          shell: `shl_${string}`;
          state: "past";
          facts: {
            exitCode: number;
            timedOut: boolean;
            limit?: "time" | "memory" | "pids" | "disk" | "output" | undefined;
            shellRespawned: boolean;
            stdoutBytes: number;
            stderrBytes: number;
            artifacts?:
              | {
                  stdout?:
                    | {
                        id: `art_${string}`;
                        url: string;
                        bytes: number;
                        leftOut?: { bytes: number; because: "session quota" | "quota" | "disk" } | undefined;
                      }
                    | undefined;
                  stderr?:
                    | {
                        id: `art_${string}`;
                        url: string;
                        bytes: number;
                        leftOut?: { bytes: number; because: "session quota" | "quota" | "disk" } | undefined;
                      }
                    | undefined;
                }
              | undefined;
            heldBack?: { path: string; state: "aside" | "there"; folder?: string | undefined }[] | undefined;
          };
        }
      | { id: `cmd_${string}`; shell: `shl_${string}`; state: "unknown"; reason: string };
  };
  /** Interrupts a command, or all that runs or waits in the shell. */
  "POST /api/shells/{id}/interrupt": {
    path: { id: `shl_${string}` };
    query: Record<string, never>;
    body: { command?: `cmd_${string}` | undefined };
    answer: { kind: "interrupted" | "nothing-running" };
  };
  /** Lists the terminals that are open. */
  "GET /api/terminals": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: {
      terminals: (
        | {
            id: `trm_${string}`;
            of: `shl_${string}` | `ses_${string}`;
            state: "open";
            lasting: boolean;
            viewers: number;
            columns: number;
            rows: number;
            scrollback?: string | undefined;
          }
        | {
            id: `trm_${string}`;
            reason: string;
            exitCode?: number | undefined;
            scrollback?: string | undefined;
            of: `shl_${string}` | `ses_${string}`;
            state: "closed";
          }
      )[];
    };
  };
  /** Lists the terminals that a shell has had, the newest last. */
  "GET /api/shells/{id}/terminals": {
    path: { id: `shl_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      terminals: (
        | {
            id: `trm_${string}`;
            of: `shl_${string}` | `ses_${string}`;
            state: "open";
            lasting: boolean;
            viewers: number;
            columns: number;
            rows: number;
            scrollback?: string | undefined;
          }
        | {
            id: `trm_${string}`;
            reason: string;
            exitCode?: number | undefined;
            scrollback?: string | undefined;
            of: `shl_${string}` | `ses_${string}`;
            state: "closed";
          }
      )[];
    };
  };
  /** Opens a terminal in a shell's environment. */
  "POST /api/shells/{id}/terminals": {
    path: { id: `shl_${string}` };
    query: Record<string, never>;
    body: { columns?: number | undefined; rows?: number | undefined };
    answer:
      | {
          id: `trm_${string}`;
          of: `shl_${string}` | `ses_${string}`;
          state: "open";
          lasting: boolean;
          viewers: number;
          columns: number;
          rows: number;
          scrollback?: string | undefined;
        }
      | {
          id: `trm_${string}`;
          reason: string;
          exitCode?: number | undefined;
          scrollback?: string | undefined;
          of: `shl_${string}` | `ses_${string}`;
          state: "closed";
        };
  };
  /** Tells how a shell's terminal stands. */
  "GET /api/shells/{id}/terminals/{terminal}": {
    path: { id: `shl_${string}`; terminal: `trm_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer:
      | {
          id: `trm_${string}`;
          of: `shl_${string}` | `ses_${string}`;
          state: "open";
          lasting: boolean;
          viewers: number;
          columns: number;
          rows: number;
          scrollback?: string | undefined;
        }
      | {
          id: `trm_${string}`;
          reason: string;
          exitCode?: number | undefined;
          scrollback?: string | undefined;
          of: `shl_${string}` | `ses_${string}`;
          state: "closed";
        };
  };
  /** Ends a shell's terminal with all that runs on it. */
  "DELETE /api/shells/{id}/terminals/{terminal}": {
    path: { id: `shl_${string}`; terminal: `trm_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer:
      | {
          id: `trm_${string}`;
          of: `shl_${string}` | `ses_${string}`;
          state: "open";
          lasting: boolean;
          viewers: number;
          columns: number;
          rows: number;
          scrollback?: string | undefined;
        }
      | {
          id: `trm_${string}`;
          reason: string;
          exitCode?: number | undefined;
          scrollback?: string | undefined;
          of: `shl_${string}` | `ses_${string}`;
          state: "closed";
        };
  };
  /** Sends the text that is or was on a shell's terminal, without colours. */
  "GET /api/shells/{id}/terminals/{terminal}/scrollback": {
    path: { id: `shl_${string}`; terminal: `trm_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: string;
  };
  /** Carries a shell's terminal over a WebSocket. */
  "GET /api/shells/{id}/terminals/{terminal}/stream": {
    path: { id: `shl_${string}`; terminal: `trm_${string}` };
    query: { columns?: number | undefined; rows?: number | undefined };
    body: undefined;
    answer:
      | { columns: number; rows: number; kind: "size" }
      | {
          kind: "closed";
          terminal: {
            id: `trm_${string}`;
            reason: string;
            exitCode?: number | undefined;
            scrollback?: string | undefined;
          };
        }
      | { kind: "heartbeat" }
      | { kind: "pong" }
      | {
          kind: "problem";
          problem: {
            type: string;
            title: string;
            status: number;
            code: string;
            detail?: string | undefined;
            hint?: string | undefined;
            retry: "now" | "later" | "never";
            retryAfterSeconds?: number | undefined;
          };
        };
  };
  /** Lists the terminals that a session has had, the newest last. */
  "GET /api/sessions/{id}/terminals": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      terminals: (
        | {
            id: `trm_${string}`;
            of: `shl_${string}` | `ses_${string}`;
            state: "open";
            lasting: boolean;
            viewers: number;
            columns: number;
            rows: number;
            scrollback?: string | undefined;
          }
        | {
            id: `trm_${string}`;
            reason: string;
            exitCode?: number | undefined;
            scrollback?: string | undefined;
            of: `shl_${string}` | `ses_${string}`;
            state: "closed";
          }
      )[];
    };
  };
  /** Opens a terminal in a session's environment, beside the agent. */
  "POST /api/sessions/{id}/terminals": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: { columns?: number | undefined; rows?: number | undefined };
    answer:
      | {
          id: `trm_${string}`;
          of: `shl_${string}` | `ses_${string}`;
          state: "open";
          lasting: boolean;
          viewers: number;
          columns: number;
          rows: number;
          scrollback?: string | undefined;
        }
      | {
          id: `trm_${string}`;
          reason: string;
          exitCode?: number | undefined;
          scrollback?: string | undefined;
          of: `shl_${string}` | `ses_${string}`;
          state: "closed";
        };
  };
  /** Tells how a session's terminal stands. */
  "GET /api/sessions/{id}/terminals/{terminal}": {
    path: { id: `ses_${string}`; terminal: `trm_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer:
      | {
          id: `trm_${string}`;
          of: `shl_${string}` | `ses_${string}`;
          state: "open";
          lasting: boolean;
          viewers: number;
          columns: number;
          rows: number;
          scrollback?: string | undefined;
        }
      | {
          id: `trm_${string}`;
          reason: string;
          exitCode?: number | undefined;
          scrollback?: string | undefined;
          of: `shl_${string}` | `ses_${string}`;
          state: "closed";
        };
  };
  /** Ends a session's terminal with all that runs on it. */
  "DELETE /api/sessions/{id}/terminals/{terminal}": {
    path: { id: `ses_${string}`; terminal: `trm_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer:
      | {
          id: `trm_${string}`;
          of: `shl_${string}` | `ses_${string}`;
          state: "open";
          lasting: boolean;
          viewers: number;
          columns: number;
          rows: number;
          scrollback?: string | undefined;
        }
      | {
          id: `trm_${string}`;
          reason: string;
          exitCode?: number | undefined;
          scrollback?: string | undefined;
          of: `shl_${string}` | `ses_${string}`;
          state: "closed";
        };
  };
  /** Sends the text that is or was on a session's terminal, without colours. */
  "GET /api/sessions/{id}/terminals/{terminal}/scrollback": {
    path: { id: `ses_${string}`; terminal: `trm_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: string;
  };
  /** Carries a session's terminal over a WebSocket. */
  "GET /api/sessions/{id}/terminals/{terminal}/stream": {
    path: { id: `ses_${string}`; terminal: `trm_${string}` };
    query: { columns?: number | undefined; rows?: number | undefined };
    body: undefined;
    answer:
      | { columns: number; rows: number; kind: "size" }
      | {
          kind: "closed";
          terminal: {
            id: `trm_${string}`;
            reason: string;
            exitCode?: number | undefined;
            scrollback?: string | undefined;
          };
        }
      | { kind: "heartbeat" }
      | { kind: "pong" }
      | {
          kind: "problem";
          problem: {
            type: string;
            title: string;
            status: number;
            code: string;
            detail?: string | undefined;
            hint?: string | undefined;
            retry: "now" | "later" | "never";
            retryAfterSeconds?: number | undefined;
          };
        };
  };
  /** Tells what a session changed, what it has not committed included. */
  "GET /api/sessions/{id}/diff": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      path: string;
      base: string;
      branch?: string | undefined;
      commit?: string | undefined;
      files: { path: string; insertions: number | null; deletions: number | null }[];
      patch: string;
      truncated: boolean;
      flagged?: { path: string; why: string }[] | undefined;
      skipped?: { path: string; why: string }[] | undefined;
    };
  };
  /** Brings what is in the workspace now into the user's repository, as a branch. */
  "POST /api/sessions/{id}/bring-back": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: { edited?: boolean | undefined };
    answer:
      | {
          kind: "brought";
          branch: string;
          commit: string;
          before?: string | undefined;
          commits: number;
          files: number;
          insertions: number;
          deletions: number;
          leftovers: boolean;
          skipped: { path: string; why: string }[];
          edited?: true | undefined;
        }
      | { kind: "nothing-new"; skipped?: { path: string; why: string }[] | undefined };
  };
  /** Merges the session's branch into what is checked out in the user's folder; conflicts, and changes of the user's own in the way, are told before anything is touched. */
  "POST /api/sessions/{id}/merge": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: { how?: "squash" | "no-ff" | undefined };
    answer:
      | {
          kind: "merged";
          branch: string;
          commit: string;
          worktree: string;
          from: string;
          to: string;
          how: "fast-forward" | "merge" | "squash";
          since?: string | undefined;
          already?: true | undefined;
        }
      | { kind: "nothing-to-merge" };
  };
  /** Moves the workspace aside and takes its branch out of the user's repository; `undo` brings both back. */
  "POST /api/sessions/{id}/discard": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: { undo?: boolean | undefined };
    answer: { kind: "discarded" | "restored"; branch?: string | undefined; commit?: string | undefined };
  };
  /** Cancels the set-up of a copy, runs it again, or goes on without it. */
  "POST /api/sessions/{id}/setup": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: { decision: "cancel" | "again" | "skip" };
    answer: { kind: "requested" | "nothing-to-decide" };
  };
  /** Lists the files that came out of a session's work, in the order they began. */
  "GET /api/sessions/{id}/artifacts": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      artifacts: {
        id: `art_${string}`;
        owner: `ses_${string}` | `shl_${string}`;
        name: string;
        kind: "stdout" | "stderr" | "scrollback" | "image" | "attachment";
        state: "growing" | "kept" | "expired";
        url: string;
        callId?: `cal_${string}` | undefined;
        bytes: number;
        leftOut?: { bytes: number; because: "session quota" | "quota" | "disk" } | undefined;
        digest?: string | undefined;
        approximateCreationTime: string;
      }[];
    };
  };
  /** Lists the files that came out of the work in a shell, in the order they began. */
  "GET /api/shells/{id}/artifacts": {
    path: { id: `shl_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      artifacts: {
        id: `art_${string}`;
        owner: `ses_${string}` | `shl_${string}`;
        name: string;
        kind: "stdout" | "stderr" | "scrollback" | "image" | "attachment";
        state: "growing" | "kept" | "expired";
        url: string;
        callId?: `cal_${string}` | undefined;
        bytes: number;
        leftOut?: { bytes: number; because: "session quota" | "quota" | "disk" } | undefined;
        digest?: string | undefined;
        approximateCreationTime: string;
      }[];
    };
  };
  /** Tells what is known of an artifact. */
  "GET /api/artifacts/{id}": {
    path: { id: `art_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      id: `art_${string}`;
      owner: `ses_${string}` | `shl_${string}`;
      name: string;
      kind: "stdout" | "stderr" | "scrollback" | "image" | "attachment";
      state: "growing" | "kept" | "expired";
      url: string;
      callId?: `cal_${string}` | undefined;
      bytes: number;
      leftOut?: { bytes: number; because: "session quota" | "quota" | "disk" } | undefined;
      digest?: string | undefined;
      approximateCreationTime: string;
    };
  };
  /** Sends an artifact's bytes, or a Range of them, to be saved and never shown as a page; of one that grows those up to now; an answer that is shorter than it says was cut off, since what is stored is damaged. */
  "GET /api/artifacts/{id}/content": {
    path: { id: `art_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: string;
  };
  /** Lists what a session's workspace held, moment by moment, oldest first. */
  "GET /api/sessions/{id}/snapshots": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      snapshots: {
        id: `snp_${string}`;
        session?: `ses_${string}` | undefined;
        shell?: `shl_${string}` | undefined;
        tree: string;
        previous: `snp_${string}` | null;
        reason: "start" | "calls" | "removal" | "person";
        calls: `cal_${string}`[];
        commands: `cmd_${string}`[];
        terminals?: `trm_${string}`[] | undefined;
        files: number;
        insertions: number;
        deletions: number;
        skipped: { path: string; why: string }[];
        flagged?: { path: string; why: string }[] | undefined;
        seq: number;
        at: string;
      }[];
    };
  };
  /** Keeps what the workspace holds now. */
  "POST /api/sessions/{id}/snapshots": {
    path: { id: `ses_${string}` };
    query: Record<string, never>;
    body: Record<string, never>;
    answer: {
      kind: "taken" | "unchanged";
      snapshot: {
        id: `snp_${string}`;
        session?: `ses_${string}` | undefined;
        shell?: `shl_${string}` | undefined;
        tree: string;
        previous: `snp_${string}` | null;
        reason: "start" | "calls" | "removal" | "person";
        calls: `cal_${string}`[];
        commands: `cmd_${string}`[];
        terminals?: `trm_${string}`[] | undefined;
        files: number;
        insertions: number;
        deletions: number;
        skipped: { path: string; why: string }[];
        flagged?: { path: string; why: string }[] | undefined;
        seq: number;
        at: string;
      };
    };
  };
  "GET /api/shells/{id}/snapshots": {
    path: { id: `shl_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      snapshots: {
        id: `snp_${string}`;
        session?: `ses_${string}` | undefined;
        shell?: `shl_${string}` | undefined;
        tree: string;
        previous: `snp_${string}` | null;
        reason: "start" | "calls" | "removal" | "person";
        calls: `cal_${string}`[];
        commands: `cmd_${string}`[];
        terminals?: `trm_${string}`[] | undefined;
        files: number;
        insertions: number;
        deletions: number;
        skipped: { path: string; why: string }[];
        flagged?: { path: string; why: string }[] | undefined;
        seq: number;
        at: string;
      }[];
    };
  };
  "POST /api/shells/{id}/snapshots": {
    path: { id: `shl_${string}` };
    query: Record<string, never>;
    body: Record<string, never>;
    answer: {
      kind: "taken" | "unchanged";
      snapshot: {
        id: `snp_${string}`;
        session?: `ses_${string}` | undefined;
        shell?: `shl_${string}` | undefined;
        tree: string;
        previous: `snp_${string}` | null;
        reason: "start" | "calls" | "removal" | "person";
        calls: `cal_${string}`[];
        commands: `cmd_${string}`[];
        terminals?: `trm_${string}`[] | undefined;
        files: number;
        insertions: number;
        deletions: number;
        skipped: { path: string; why: string }[];
        flagged?: { path: string; why: string }[] | undefined;
        seq: number;
        at: string;
      };
    };
  };
  /** Tells what is known of a snapshot. */
  "GET /api/snapshots/{id}": {
    path: { id: `snp_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      id: `snp_${string}`;
      session?: `ses_${string}` | undefined;
      shell?: `shl_${string}` | undefined;
      tree: string;
      previous: `snp_${string}` | null;
      reason: "start" | "calls" | "removal" | "person";
      calls: `cal_${string}`[];
      commands: `cmd_${string}`[];
      terminals?: `trm_${string}`[] | undefined;
      files: number;
      insertions: number;
      deletions: number;
      skipped: { path: string; why: string }[];
      flagged?: { path: string; why: string }[] | undefined;
      seq: number;
      at: string;
    };
  };
  /** Tells what changed from this snapshot to another one, or to the files as they are now. */
  "GET /api/snapshots/{id}/diff": {
    path: { id: `snp_${string}` };
    query: { to?: `snp_${string}` | undefined };
    body: undefined;
    answer: {
      session?: `ses_${string}` | undefined;
      shell?: `shl_${string}` | undefined;
      from: `snp_${string}`;
      to?: `snp_${string}` | undefined;
      files: { path: string; insertions: number | null; deletions: number | null }[];
      patch: string;
      truncated: boolean;
    };
  };
  /** Makes the workspace's files, or some of them, what they were then; what they are before that is kept as a snapshot, so it can be undone. */
  "POST /api/snapshots/{id}/restore": {
    path: { id: `snp_${string}` };
    query: Record<string, never>;
    body: { paths?: string[] | undefined };
    answer: { kind: "restored"; snapshot: `snp_${string}`; before: `snp_${string}`; after: `snp_${string}` };
  };
  /** Lists the questions that wait for an answer, oldest first; with `closed` those that have had one, too. */
  "GET /api/questions": {
    path: Record<string, never>;
    query: { session?: `ses_${string}` | undefined; closed?: "0" | "1" | undefined };
    body: undefined;
    answer: {
      questions: {
        id: `que_${string}`;
        activityId?: `act_${string}` | undefined;
        about:
          | {
              kind: "approval";
              callId: `cal_${string}`;
              turnId: `trn_${string}`;
              tool: string;
              arguments: { [key: string]: unknown };
              hash: string;
              because: string;
              always?:
                | {
                    tool?: string | undefined;
                    command?: string | undefined;
                    path?: string | undefined;
                    access?: "read" | "write" | undefined;
                    host?: string | undefined;
                  }[]
                | undefined;
              diff?: string | undefined;
            }
          | { kind: "agent"; callId: `cal_${string}`; turnId: `trn_${string}` }
          | {
              kind: "host";
              host: string;
              port: number;
              always?:
                | {
                    tool?: string | undefined;
                    command?: string | undefined;
                    path?: string | undefined;
                    access?: "read" | "write" | undefined;
                    host?: string | undefined;
                  }[]
                | undefined;
            }
          | {
              kind: "held-back";
              names: {
                path: string;
                kind: "file" | "folder" | "link" | "other";
                was: "made" | "changed";
                restored?: boolean | undefined;
                why: string;
              }[];
              diff: string;
              folder: string;
            };
        text: string;
        choices: { id: string; label: string; note?: string | undefined }[];
        takesText: boolean;
        default?: { choice?: string | undefined; text?: string | undefined } | undefined;
        timeLimitMs?: number | undefined;
        session: `ses_${string}`;
        projectId?: `prj_${string}` | undefined;
        state:
          | { state: "open" }
          | {
              state: "answered";
              answer: { choice?: string | undefined; text?: string | undefined };
              by: string;
              at: string;
            }
          | { state: "defaulted"; answer: { choice?: string | undefined; text?: string | undefined }; at: string }
          | { state: "expired"; at: string }
          | { state: "cancelled"; reason: string; by: string; at: string };
        askedAt: string;
        remainingMs?: number | undefined;
        seq: number;
      }[];
      seq: number;
    };
  };
  /** Tells how a question stands. */
  "GET /api/questions/{id}": {
    path: { id: `que_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      id: `que_${string}`;
      activityId?: `act_${string}` | undefined;
      about:
        | {
            kind: "approval";
            callId: `cal_${string}`;
            turnId: `trn_${string}`;
            tool: string;
            arguments: { [key: string]: unknown };
            hash: string;
            because: string;
            always?:
              | {
                  tool?: string | undefined;
                  command?: string | undefined;
                  path?: string | undefined;
                  access?: "read" | "write" | undefined;
                  host?: string | undefined;
                }[]
              | undefined;
            diff?: string | undefined;
          }
        | { kind: "agent"; callId: `cal_${string}`; turnId: `trn_${string}` }
        | {
            kind: "host";
            host: string;
            port: number;
            always?:
              | {
                  tool?: string | undefined;
                  command?: string | undefined;
                  path?: string | undefined;
                  access?: "read" | "write" | undefined;
                  host?: string | undefined;
                }[]
              | undefined;
          }
        | {
            kind: "held-back";
            names: {
              path: string;
              kind: "file" | "folder" | "link" | "other";
              was: "made" | "changed";
              restored?: boolean | undefined;
              why: string;
            }[];
            diff: string;
            folder: string;
          };
      text: string;
      choices: { id: string; label: string; note?: string | undefined }[];
      takesText: boolean;
      default?: { choice?: string | undefined; text?: string | undefined } | undefined;
      timeLimitMs?: number | undefined;
      session: `ses_${string}`;
      projectId?: `prj_${string}` | undefined;
      state:
        | { state: "open" }
        | {
            state: "answered";
            answer: { choice?: string | undefined; text?: string | undefined };
            by: string;
            at: string;
          }
        | { state: "defaulted"; answer: { choice?: string | undefined; text?: string | undefined }; at: string }
        | { state: "expired"; at: string }
        | { state: "cancelled"; reason: string; by: string; at: string };
      askedAt: string;
      remainingMs?: number | undefined;
      seq: number;
    };
  };
  /** Answers a question, by one of its choices, in words, or both; the first answer counts, by its id it counts once, and approvals, and hosts to be reached, need the scope operate. */
  "POST /api/questions/{id}/answer": {
    path: { id: `que_${string}` };
    query: Record<string, never>;
    body: { choice?: string | undefined; text?: string | undefined; id?: `ans_${string}` | undefined };
    answer: {
      kind: "answered" | "duplicate";
      question: {
        id: `que_${string}`;
        activityId?: `act_${string}` | undefined;
        about:
          | {
              kind: "approval";
              callId: `cal_${string}`;
              turnId: `trn_${string}`;
              tool: string;
              arguments: { [key: string]: unknown };
              hash: string;
              because: string;
              always?:
                | {
                    tool?: string | undefined;
                    command?: string | undefined;
                    path?: string | undefined;
                    access?: "read" | "write" | undefined;
                    host?: string | undefined;
                  }[]
                | undefined;
              diff?: string | undefined;
            }
          | { kind: "agent"; callId: `cal_${string}`; turnId: `trn_${string}` }
          | {
              kind: "host";
              host: string;
              port: number;
              always?:
                | {
                    tool?: string | undefined;
                    command?: string | undefined;
                    path?: string | undefined;
                    access?: "read" | "write" | undefined;
                    host?: string | undefined;
                  }[]
                | undefined;
            }
          | {
              kind: "held-back";
              names: {
                path: string;
                kind: "file" | "folder" | "link" | "other";
                was: "made" | "changed";
                restored?: boolean | undefined;
                why: string;
              }[];
              diff: string;
              folder: string;
            };
        text: string;
        choices: { id: string; label: string; note?: string | undefined }[];
        takesText: boolean;
        default?: { choice?: string | undefined; text?: string | undefined } | undefined;
        timeLimitMs?: number | undefined;
        session: `ses_${string}`;
        projectId?: `prj_${string}` | undefined;
        state:
          | { state: "open" }
          | {
              state: "answered";
              answer: { choice?: string | undefined; text?: string | undefined };
              by: string;
              at: string;
            }
          | { state: "defaulted"; answer: { choice?: string | undefined; text?: string | undefined }; at: string }
          | { state: "expired"; at: string }
          | { state: "cancelled"; reason: string; by: string; at: string };
        askedAt: string;
        remainingMs?: number | undefined;
        seq: number;
      };
    };
  };
  /** Closes a question without an answer: whoever asked is told so and goes on; a call that needed it is declined. */
  "POST /api/questions/{id}/cancel": {
    path: { id: `que_${string}` };
    query: Record<string, never>;
    body: { reason?: string | undefined };
    answer: {
      kind: "cancelled" | "duplicate";
      question: {
        id: `que_${string}`;
        activityId?: `act_${string}` | undefined;
        about:
          | {
              kind: "approval";
              callId: `cal_${string}`;
              turnId: `trn_${string}`;
              tool: string;
              arguments: { [key: string]: unknown };
              hash: string;
              because: string;
              always?:
                | {
                    tool?: string | undefined;
                    command?: string | undefined;
                    path?: string | undefined;
                    access?: "read" | "write" | undefined;
                    host?: string | undefined;
                  }[]
                | undefined;
              diff?: string | undefined;
            }
          | { kind: "agent"; callId: `cal_${string}`; turnId: `trn_${string}` }
          | {
              kind: "host";
              host: string;
              port: number;
              always?:
                | {
                    tool?: string | undefined;
                    command?: string | undefined;
                    path?: string | undefined;
                    access?: "read" | "write" | undefined;
                    host?: string | undefined;
                  }[]
                | undefined;
            }
          | {
              kind: "held-back";
              names: {
                path: string;
                kind: "file" | "folder" | "link" | "other";
                was: "made" | "changed";
                restored?: boolean | undefined;
                why: string;
              }[];
              diff: string;
              folder: string;
            };
        text: string;
        choices: { id: string; label: string; note?: string | undefined }[];
        takesText: boolean;
        default?: { choice?: string | undefined; text?: string | undefined } | undefined;
        timeLimitMs?: number | undefined;
        session: `ses_${string}`;
        projectId?: `prj_${string}` | undefined;
        state:
          | { state: "open" }
          | {
              state: "answered";
              answer: { choice?: string | undefined; text?: string | undefined };
              by: string;
              at: string;
            }
          | { state: "defaulted"; answer: { choice?: string | undefined; text?: string | undefined }; at: string }
          | { state: "expired"; at: string }
          | { state: "cancelled"; reason: string; by: string; at: string };
        askedAt: string;
        remainingMs?: number | undefined;
        seq: number;
      };
    };
  };
  /** Tells which hosts sessions and shells have reached, or were refused. */
  "GET /api/network": {
    path: Record<string, never>;
    query: { session?: `ses_${string}` | undefined };
    body: undefined;
    answer: {
      contacts: {
        host: string;
        port: number;
        verdict: "allowed" | "refused";
        reason: "listed" | "answered" | "unlisted" | "port" | "rule" | "name" | "address" | "unresolved" | "request";
        connections: number;
        bytesOut: number;
        bytesIn: number;
        address?: string | undefined;
        serverNames?: string[] | undefined;
        session?: `ses_${string}` | undefined;
        shell?: `shl_${string}` | undefined;
        approximateLastTime: string;
      }[];
      seq: number;
    };
  };
  /** Tells which rules hold, and where they are from. */
  "GET /api/rules": {
    path: Record<string, never>;
    query: { project?: `prj_${string}` | undefined; session?: `ses_${string}` | undefined; agent?: string | undefined };
    body: undefined;
    answer: {
      mode: "plan" | "ask" | "auto";
      situation: { environment: "jail" | "container" | "local"; workspace: "copy" | "in-place"; folder: string };
      rules: {
        verdict: "allow" | "ask" | "deny";
        match: {
          tool?: string | undefined;
          command?: string | undefined;
          path?: string | undefined;
          access?: "read" | "write" | undefined;
          host?: string | undefined;
        };
        because?: string | undefined;
        origin:
          | { kind: "file"; layer: "user" | "agent" | "project"; file: string; line: number; column: number }
          | { kind: "always"; for: "session" | "agent" | "project"; seq: number };
      }[];
      problems: { line: number; column: number; message: string; file: string }[];
      files: { layer: "user" | "project"; file: string; state: "absent" | "applied" | "broken" }[];
      seq: number;
    };
  };
  /** Explains what rules say about a call; nothing is done. */
  "POST /api/rules/check": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      project?: `prj_${string}` | undefined;
      session?: `ses_${string}` | undefined;
      agent?: string | undefined;
      mode?: "plan" | "ask" | "auto" | undefined;
      environment?: "jail" | "container" | "local" | undefined;
      workspace?: "copy" | "in-place" | undefined;
      tool?: string | undefined;
      command?: string | undefined;
      path?: string | undefined;
      access?: "read" | "write" | undefined;
      host?: string | undefined;
    };
    answer: {
      verdict: "allow" | "ask" | "deny";
      why: string;
      parts: {
        kind: "tool" | "command" | "read" | "write" | "host" | "unclear";
        text: string;
        via?: string[] | undefined;
        verdict: "allow" | "ask" | "deny";
        why: string;
        rule?:
          | {
              verdict: "allow" | "ask" | "deny";
              match: {
                tool?: string | undefined;
                command?: string | undefined;
                path?: string | undefined;
                access?: "read" | "write" | undefined;
                host?: string | undefined;
              };
              because?: string | undefined;
              origin:
                | { kind: "file"; layer: "user" | "agent" | "project"; file: string; line: number; column: number }
                | { kind: "always"; for: "session" | "agent" | "project"; seq: number };
            }
          | undefined;
      }[];
      always?:
        | {
            tool?: string | undefined;
            command?: string | undefined;
            path?: string | undefined;
            access?: "read" | "write" | undefined;
            host?: string | undefined;
          }[]
        | undefined;
    };
  };
  /** Lists what people said "always" to, for sessions, agents and projects, the oldest first. */
  "GET /api/rules/kept": {
    path: Record<string, never>;
    query: { project?: `prj_${string}` | undefined };
    body: undefined;
    answer: {
      rules: {
        id: `rul_${string}`;
        for: "session" | "agent" | "project";
        of: string;
        projectId?: `prj_${string}` | undefined;
        match: {
          tool?: string | undefined;
          command?: string | undefined;
          path?: string | undefined;
          access?: "read" | "write" | undefined;
          host?: string | undefined;
        };
        by: string;
        at: string;
      }[];
      seq: number;
    };
  };
  /** Takes an "always" back, from the next call on. */
  "DELETE /api/rules/kept/{id}": {
    path: { id: `rul_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      kind: "forgotten";
      rule: {
        id: `rul_${string}`;
        for: "session" | "agent" | "project";
        of: string;
        projectId?: `prj_${string}` | undefined;
        match: {
          tool?: string | undefined;
          command?: string | undefined;
          path?: string | undefined;
          access?: "read" | "write" | undefined;
          host?: string | undefined;
        };
        by: string;
        at: string;
      };
    };
  };
  /** Tells what agents and people ran, with the difference it made; without a cursor the newest. */
  "GET /api/audit": {
    path: Record<string, never>;
    query: {
      session?: `ses_${string}` | undefined;
      shell?: `shl_${string}` | undefined;
      project?: `prj_${string}` | undefined;
      after?: number | undefined;
      since?: string | undefined;
      failed?: "0" | "1" | undefined;
      flagged?: "0" | "1" | undefined;
      limit?: number | undefined;
    };
    body: undefined;
    answer: {
      entries: {
        id: `cal_${string}` | `cmd_${string}` | `stp_${string}`;
        kind: "call" | "command" | "setup";
        seq: number;
        lastSeq: number;
        actor: string;
        onWordOf: string[];
        activity?: `act_${string}` | undefined;
        where: {
          session?: `ses_${string}` | undefined;
          shell?: `shl_${string}` | undefined;
          project?: `prj_${string}` | undefined;
          environment?: "jail" | "container" | "local" | undefined;
          network?: "off" | "allow" | "open" | undefined;
          workspace?: "copy" | "in-place" | "scratch" | undefined;
          path?: string | undefined;
        };
        tool: string;
        command: string;
        isCut?: true | undefined;
        askedAt: string;
        startedAt?: string | undefined;
        endedAt?: string | undefined;
        attempts: number;
        outcome: "waiting" | "running" | "ended" | "failed" | "declined" | "interrupted" | "unknown";
        reason?: string | undefined;
        exitCode?: number | undefined;
        timedOut?: boolean | undefined;
        limit?: "time" | "memory" | "pids" | "disk" | "output" | undefined;
        durationMs?: number | undefined;
        interruptedBy?: string | undefined;
        recovered?: boolean | undefined;
        diff:
          | {
              kind: "snapshot";
              snapshot: `snp_${string}`;
              previous: `snp_${string}` | null;
              tree: string;
              files: number;
              insertions: number;
              deletions: number;
              sharedWith: (`cal_${string}` | `cmd_${string}`)[];
              expired: boolean;
            }
          | {
              kind: "none";
              why: "never-ran" | "running" | "read-only" | "scratch" | "not-named" | "not-yet" | "unchanged" | "closed";
            };
        flagged?: { path: string; why: string }[] | undefined;
      }[];
      next: number | null;
      hasEarlier: boolean;
      head: string;
    };
  };
  /** Tells all of one entry. */
  "GET /api/audit/entries/{id}": {
    path: { id: `cal_${string}` | `cmd_${string}` | `stp_${string}` };
    query: Record<string, never>;
    body: undefined;
    answer: {
      id: `cal_${string}` | `cmd_${string}` | `stp_${string}`;
      kind: "call" | "command" | "setup";
      seq: number;
      lastSeq: number;
      actor: string;
      onWordOf: string[];
      activity?: `act_${string}` | undefined;
      where: {
        session?: `ses_${string}` | undefined;
        shell?: `shl_${string}` | undefined;
        project?: `prj_${string}` | undefined;
        environment?: "jail" | "container" | "local" | undefined;
        network?: "off" | "allow" | "open" | undefined;
        workspace?: "copy" | "in-place" | "scratch" | undefined;
        path?: string | undefined;
      };
      tool: string;
      command: string;
      isCut?: true | undefined;
      askedAt: string;
      startedAt?: string | undefined;
      endedAt?: string | undefined;
      attempts: number;
      outcome: "waiting" | "running" | "ended" | "failed" | "declined" | "interrupted" | "unknown";
      reason?: string | undefined;
      exitCode?: number | undefined;
      timedOut?: boolean | undefined;
      limit?: "time" | "memory" | "pids" | "disk" | "output" | undefined;
      durationMs?: number | undefined;
      interruptedBy?: string | undefined;
      recovered?: boolean | undefined;
      diff:
        | {
            kind: "snapshot";
            snapshot: `snp_${string}`;
            previous: `snp_${string}` | null;
            tree: string;
            files: number;
            insertions: number;
            deletions: number;
            sharedWith: (`cal_${string}` | `cmd_${string}`)[];
            expired: boolean;
          }
        | {
            kind: "none";
            why: "never-ran" | "running" | "read-only" | "scratch" | "not-named" | "not-yet" | "unchanged" | "closed";
          };
      flagged?: { path: string; why: string }[] | undefined;
    };
  };
  /** Tells the newest link of the chain, to be kept elsewhere. */
  "GET /api/audit/head": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: { head: string };
  };
  /** Goes over the whole chain and tells whether anything was changed by hand. */
  "GET /api/audit/verify": {
    path: Record<string, never>;
    query: { head?: string | undefined };
    body: undefined;
    answer: {
      verdict: "intact" | "broken";
      head: string | null;
      events: number;
      olderUpTo: number;
      erased: number;
      trimmed: number;
      trimmedUpTo: number;
      gaps: { from: number; to: number }[];
      breaks: {
        kind: "changed" | "link-changed" | "missing" | "inserted" | "erased" | "begin";
        from: number;
        to: number;
        stream?: string | undefined;
        type?: string | undefined;
      }[];
      breakCount: number;
      kept?: { head: string; found: "on-chain" | "other-link" | "ahead" | "passed-over" | "older" } | undefined;
    };
  };
  /** Reads a page of what happened, of which `next` is the cursor to go on with, and is `after` again at the end for now; a cursor ahead of the log, which is one of another log, is refused. */
  "GET /api/events": {
    path: Record<string, never>;
    query: {
      after?: number | undefined;
      project?: `prj_${string}` | undefined;
      types?: string | undefined;
      deltas?: "0" | "1" | undefined;
      limit?: number | undefined;
      follow?: "0" | "1" | undefined;
      session?: `ses_${string}` | undefined;
    };
    body: undefined;
    answer: {
      events: {
        seq: number;
        stream: string;
        version: number;
        typeVersion: number;
        actor: string;
        traceId?: string | undefined;
        approximateCreationTime: string;
        type: string;
        data: unknown;
      }[];
      next: number;
      gap?: { kind: "gap"; from: number; to: number } | undefined;
    };
  };
  /** Reads a page of what happened in a session; its cursor is as for all events. */
  "GET /api/sessions/{id}/events": {
    path: { id: `ses_${string}` };
    query: {
      after?: number | undefined;
      project?: `prj_${string}` | undefined;
      types?: string | undefined;
      deltas?: "0" | "1" | undefined;
      limit?: number | undefined;
      follow?: "0" | "1" | undefined;
    };
    body: undefined;
    answer: {
      events: {
        seq: number;
        stream: string;
        version: number;
        typeVersion: number;
        actor: string;
        traceId?: string | undefined;
        approximateCreationTime: string;
        type: string;
        data: unknown;
      }[];
      next: number;
      gap?: { kind: "gap"; from: number; to: number } | undefined;
    };
  };
  /** Carries events and deltas over a WebSocket. */
  "GET /api/stream": {
    path: Record<string, never>;
    query: {
      after?: number | undefined;
      project?: `prj_${string}` | undefined;
      types?: string | undefined;
      deltas?: "0" | "1" | undefined;
      session?: `ses_${string}` | undefined;
    };
    body: undefined;
    answer:
      | { kind: "subscribed"; after: number }
      | {
          kind: "event";
          event: {
            seq: number;
            stream: string;
            version: number;
            typeVersion: number;
            actor: string;
            traceId?: string | undefined;
            approximateCreationTime: string;
            type: string;
            data: unknown;
          };
        }
      | {
          kind: "delta";
          delta:
            | { kind: "text"; session: `ses_${string}`; part: `prt_${string}`; offset: number; text: string }
            | { kind: "reasoning"; session: `ses_${string}`; part: `prt_${string}`; offset: number; text: string }
            | { kind: "stdout"; session: `ses_${string}`; part: `cal_${string}`; offset: number; text: string }
            | { kind: "stderr"; session: `ses_${string}`; part: `cal_${string}`; offset: number; text: string };
        }
      | { kind: "gap"; from: number; to: number }
      | { kind: "heartbeat" }
      | { kind: "pong" }
      | {
          kind: "problem";
          problem: {
            type: string;
            title: string;
            status: number;
            code: string;
            detail?: string | undefined;
            hint?: string | undefined;
            retry: "now" | "later" | "never";
            retryAfterSeconds?: number | undefined;
          };
        };
  };
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail?: string | undefined;
  hint?: string | undefined;
  retry: "now" | "later" | "never";
  retryAfterSeconds?: number | undefined;
}

/** The fields that every answer of a route has; none where it may be something else than an object. */
export const fieldsOfAnswers: { readonly [R in keyof Api]: readonly string[] } = {
  "GET /healthz": ["ok", "version"],
  "GET /api/status": [
    "version",
    "pid",
    "url",
    "home",
    "uptimeSeconds",
    "sessions",
    "places",
    "runners",
    "disk",
    "database",
    "seq",
  ],
  "GET /api/doctor": ["findings"],
  "POST /api/daemon/stop": ["kind"],
  "POST /api/backups": ["path", "bytes", "events", "seq"],
  "GET /metrics": [],
  "POST /api/login/codes": ["code", "expiresInSeconds"],
  "POST /api/login": ["kind"],
  "POST /api/logout": ["kind"],
  "GET /api/tokens": ["tokens"],
  "POST /api/tokens": ["id", "name", "person", "scope", "state", "token"],
  "POST /api/tokens/{id}/revoke": ["kind", "id"],
  "GET /api/config": ["entries", "files", "refusedVariables", "seq"],
  "PUT /api/config": ["entries", "files", "refusedVariables", "seq"],
  "POST /api/config/upgrade": ["upgraded"],
  "GET /api/credentials": ["credentials"],
  "PUT /api/credentials/{provider}": ["provider", "kind"],
  "DELETE /api/credentials/{provider}": ["provider", "kind"],
  "POST /api/credentials/{provider}/test": ["provider", "outcome", "message"],
  "GET /api/models": ["models", "seq"],
  "GET /api/usage": ["by", "groups", "total", "seq"],
  "POST /api/projects": ["id", "path", "name", "present", "seq", "worktree"],
  "GET /api/projects": ["projects"],
  "POST /api/projects/{id}/forget": ["kind"],
  "GET /api/projects/{id}/trust": ["project", "files", "seq"],
  "POST /api/projects/{id}/trust": ["project", "files", "seq"],
  "POST /api/sessions": [
    "id",
    "projectId",
    "title",
    "agent",
    "model",
    "mode",
    "environment",
    "workspace",
    "state",
    "inbox",
    "isArchived",
    "seq",
  ],
  "GET /api/sessions": ["sessions"],
  "POST /api/sessions/begin": ["session", "seq"],
  "GET /api/sessions/search": ["found", "seq"],
  "GET /api/sessions/{id}": [
    "id",
    "projectId",
    "title",
    "agent",
    "model",
    "mode",
    "environment",
    "workspace",
    "state",
    "inbox",
    "isArchived",
    "seq",
  ],
  "DELETE /api/sessions/{id}": ["kind"],
  "POST /api/sessions/{id}/interrupt": ["kind"],
  "POST /api/sessions/{id}/recovery": ["kind"],
  "POST /api/sessions/{id}/continue": [],
  "POST /api/sessions/{id}/rename": ["kind"],
  "POST /api/sessions/{id}/archive": ["kind"],
  "POST /api/sessions/{id}/unarchive": ["kind"],
  "POST /api/sessions/{id}/attachments": ["name", "mediaType", "reference"],
  "POST /api/sessions/{id}/inputs": ["kind", "input", "seq"],
  "GET /api/sessions/{id}/inputs": ["inputs", "isParked", "seq"],
  "POST /api/sessions/{id}/inputs/{input}": ["kind", "input", "seq"],
  "POST /api/sessions/{id}/queue": ["kind"],
  "POST /api/shells": ["id", "environment", "workspace", "path", "actor", "state", "seq"],
  "GET /api/shells": ["shells"],
  "GET /api/shells/{id}": ["id", "environment", "workspace", "path", "actor", "state", "seq"],
  "DELETE /api/shells/{id}": ["id"],
  "POST /api/shells/{id}/commands": [],
  "GET /api/shells/{id}/commands/{command}": [],
  "POST /api/shells/{id}/interrupt": ["kind"],
  "GET /api/terminals": ["terminals"],
  "GET /api/shells/{id}/terminals": ["terminals"],
  "POST /api/shells/{id}/terminals": [],
  "GET /api/shells/{id}/terminals/{terminal}": [],
  "DELETE /api/shells/{id}/terminals/{terminal}": [],
  "GET /api/shells/{id}/terminals/{terminal}/scrollback": [],
  "GET /api/shells/{id}/terminals/{terminal}/stream": [],
  "GET /api/sessions/{id}/terminals": ["terminals"],
  "POST /api/sessions/{id}/terminals": [],
  "GET /api/sessions/{id}/terminals/{terminal}": [],
  "DELETE /api/sessions/{id}/terminals/{terminal}": [],
  "GET /api/sessions/{id}/terminals/{terminal}/scrollback": [],
  "GET /api/sessions/{id}/terminals/{terminal}/stream": [],
  "GET /api/sessions/{id}/diff": ["path", "base", "files", "patch", "truncated"],
  "POST /api/sessions/{id}/bring-back": [],
  "POST /api/sessions/{id}/merge": [],
  "POST /api/sessions/{id}/discard": ["kind"],
  "POST /api/sessions/{id}/setup": ["kind"],
  "GET /api/sessions/{id}/artifacts": ["artifacts"],
  "GET /api/shells/{id}/artifacts": ["artifacts"],
  "GET /api/artifacts/{id}": ["id", "owner", "name", "kind", "state", "url", "bytes", "approximateCreationTime"],
  "GET /api/artifacts/{id}/content": [],
  "GET /api/sessions/{id}/snapshots": ["snapshots"],
  "POST /api/sessions/{id}/snapshots": ["kind", "snapshot"],
  "GET /api/shells/{id}/snapshots": ["snapshots"],
  "POST /api/shells/{id}/snapshots": ["kind", "snapshot"],
  "GET /api/snapshots/{id}": [
    "id",
    "tree",
    "previous",
    "reason",
    "calls",
    "commands",
    "files",
    "insertions",
    "deletions",
    "skipped",
    "seq",
    "at",
  ],
  "GET /api/snapshots/{id}/diff": ["from", "files", "patch", "truncated"],
  "POST /api/snapshots/{id}/restore": ["kind", "snapshot", "before", "after"],
  "GET /api/questions": ["questions", "seq"],
  "GET /api/questions/{id}": ["id", "about", "text", "choices", "takesText", "session", "state", "askedAt", "seq"],
  "POST /api/questions/{id}/answer": ["kind", "question"],
  "POST /api/questions/{id}/cancel": ["kind", "question"],
  "GET /api/network": ["contacts", "seq"],
  "GET /api/rules": ["mode", "situation", "rules", "problems", "files", "seq"],
  "POST /api/rules/check": ["verdict", "why", "parts"],
  "GET /api/rules/kept": ["rules", "seq"],
  "DELETE /api/rules/kept/{id}": ["kind", "rule"],
  "GET /api/audit": ["entries", "next", "hasEarlier", "head"],
  "GET /api/audit/entries/{id}": [
    "id",
    "kind",
    "seq",
    "lastSeq",
    "actor",
    "onWordOf",
    "where",
    "tool",
    "command",
    "askedAt",
    "attempts",
    "outcome",
    "diff",
  ],
  "GET /api/audit/head": ["head"],
  "GET /api/audit/verify": [
    "verdict",
    "head",
    "events",
    "olderUpTo",
    "erased",
    "trimmed",
    "trimmedUpTo",
    "gaps",
    "breaks",
    "breakCount",
  ],
  "GET /api/events": ["events", "next"],
  "GET /api/sessions/{id}/events": ["events", "next"],
  "GET /api/stream": [],
};
