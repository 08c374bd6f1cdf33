import type {
  AdmitInput,
  CreateSession,
  DecideRecovery,
  InputView,
  ProjectId,
  ProjectView,
  RegisterProject,
  SessionId,
  SessionView,
} from "@corral/protocol";

/** What the gateway asks of the sessions slice. */
export interface Sessions {
  /** Throws `not-found` for an unknown project and `model.unknown`. */
  create(wish: CreateSession, actor: string): Promise<SessionView>;
  get(id: SessionId): Promise<SessionView | undefined>;
  list(): Promise<readonly SessionView[]>;
  /** Resolves when durable. Throws `not-found` for an unknown session. */
  admit(
    id: SessionId,
    input: AdmitInput,
    actor: string,
  ): Promise<
    | { readonly kind: "admitted" | "duplicate"; readonly input: InputView; readonly seq: number }
    | { readonly kind: "conflict"; readonly reason: string }
  >;
  interrupt(id: SessionId, actor: string): Promise<{ readonly kind: "requested" | "nothing-running" }>;
  decide(
    id: SessionId,
    decision: DecideRecovery,
    actor: string,
  ): Promise<{ readonly kind: "decided" | "nothing-to-decide" }>;
}

/** What the gateway asks of the projects slice. */
export interface Projects {
  register(wish: RegisterProject, actor: string): Promise<ProjectView>;
  get(id: ProjectId): Promise<ProjectView | undefined>;
  list(): Promise<readonly ProjectView[]>;
}
