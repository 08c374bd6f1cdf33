export { openTestGateway } from "../gateway/testing.ts";
export { openTestJails, type TestJail } from "./jails.ts";
export { jailOwner } from "../environments/jail/index.ts";
export { openSpares, prepareWorkspace } from "../workspaces/index.ts";
export { openDaemonLog } from "./log.ts";
export { readOpenApiDocument } from "./openapi.ts";
export { makeRepository } from "./repository.ts";
export { startTestDaemon, type TestDaemon, type TestSession } from "./test-daemon.ts";
export * from "./scripted-model/index.ts";
