import type * as protocol from "@corral/protocol";
import type { input } from "zod";
import { expectTypeOf, test } from "vitest";
import type * as api from "./api.ts";
import type { Problem } from "./generated.ts";

// Held by `tsc`, that is by `npm run check`: at run time there is nothing left of a type.
test("what is generated from the document is what the protocol says", () => {
  expectTypeOf<api.Admission>().toEqualTypeOf<protocol.Admission>();
  expectTypeOf<api.BackupView>().toEqualTypeOf<protocol.BackupView>();
  expectTypeOf<api.ConfigView>().toEqualTypeOf<protocol.ConfigView>();
  expectTypeOf<api.CreatedToken>().toEqualTypeOf<protocol.CreatedToken>();
  expectTypeOf<api.DaemonStatus>().toEqualTypeOf<protocol.DaemonStatus>();
  expectTypeOf<api.Delta>().toEqualTypeOf<protocol.Delta>();
  expectTypeOf<api.DoctorReport>().toEqualTypeOf<protocol.DoctorReport>();
  expectTypeOf<api.EventPage>().toEqualTypeOf<protocol.EventPage>();
  expectTypeOf<api.AnswerOf<"GET /api/sessions/{id}/events">>().toEqualTypeOf<protocol.EventPage>();
  expectTypeOf<api.DeleteAnswer>().toEqualTypeOf<protocol.DeleteAnswer>();
  expectTypeOf<api.ForgetAnswer>().toEqualTypeOf<protocol.ForgetAnswer>();
  expectTypeOf<api.Gap>().toEqualTypeOf<protocol.Gap>();
  expectTypeOf<api.Health>().toEqualTypeOf<protocol.Health>();
  expectTypeOf<api.InterruptAnswer>().toEqualTypeOf<protocol.InterruptAnswer>();
  expectTypeOf<api.LoginAnswer>().toEqualTypeOf<protocol.LoginAnswer>();
  expectTypeOf<api.LoginCode>().toEqualTypeOf<protocol.LoginCode>();
  expectTypeOf<api.LogoutAnswer>().toEqualTypeOf<protocol.LogoutAnswer>();
  expectTypeOf<api.NetworkView>().toEqualTypeOf<protocol.NetworkView>();
  expectTypeOf<Problem>().toEqualTypeOf<protocol.Problem>();
  expectTypeOf<api.ProjectId>().toEqualTypeOf<protocol.ProjectId>();
  expectTypeOf<api.ProjectView>().toEqualTypeOf<protocol.ProjectView>();
  expectTypeOf<api.RecoveryAnswer>().toEqualTypeOf<protocol.RecoveryAnswer>();
  expectTypeOf<api.RegisteredProject>().toEqualTypeOf<protocol.RegisteredProject>();
  expectTypeOf<api.RevokeAnswer>().toEqualTypeOf<protocol.RevokeAnswer>();
  expectTypeOf<api.SessionId>().toEqualTypeOf<protocol.SessionId>();
  expectTypeOf<api.SessionView>().toEqualTypeOf<protocol.SessionView>();
  expectTypeOf<api.AnswerOf<"POST /api/sessions">>().toEqualTypeOf<protocol.SessionView>();
  expectTypeOf<api.AnswerOf<"GET /api/sessions">>().toEqualTypeOf<protocol.SessionList>();
  expectTypeOf<api.StopAnswer>().toEqualTypeOf<protocol.StopAnswer>();
  expectTypeOf<api.StreamMessage>().toEqualTypeOf<protocol.StreamMessage>();
  expectTypeOf<api.TokenId>().toEqualTypeOf<protocol.TokenId>();
  expectTypeOf<api.TokenView>().toEqualTypeOf<protocol.TokenView>();
  expectTypeOf<api.TrustView>().toEqualTypeOf<protocol.TrustView>();
  expectTypeOf<api.UpgradeAnswer>().toEqualTypeOf<protocol.UpgradeAnswer>();
  expectTypeOf<api.WireEvent>().toEqualTypeOf<protocol.WireEvent>();
});

test("what may be asked for is what the protocol's schemas take", () => {
  expectTypeOf<api.AdmitInput>().toEqualTypeOf<input<typeof protocol.admitInput>>();
  expectTypeOf<api.CreateSession>().toEqualTypeOf<input<typeof protocol.createSession>>();
  expectTypeOf<api.CreateToken>().toEqualTypeOf<input<typeof protocol.createToken>>();
  expectTypeOf<api.DecideRecovery>().toEqualTypeOf<input<typeof protocol.decideRecovery>>();
  expectTypeOf<api.RegisterProject>().toEqualTypeOf<input<typeof protocol.registerProject>>();
  expectTypeOf<api.SetConfig>().toEqualTypeOf<input<typeof protocol.setConfig>>();
  expectTypeOf<api.StopDaemon>().toEqualTypeOf<input<typeof protocol.stopDaemon>>();
  expectTypeOf<api.TrustFiles>().toEqualTypeOf<input<typeof protocol.trustFiles>>();
});
