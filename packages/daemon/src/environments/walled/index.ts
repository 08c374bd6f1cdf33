export { findAlive, walledEnvironment } from "./environment.ts";
export { type HeldBack, heldBackIn, type HeldContent, heldContents, putBack } from "./held-back.ts";
export { makeOwnFolder, WalledFolder } from "./folder.ts";
export { Lookouts } from "./lookout.ts";
export { mountPoints } from "./mounts.ts";
export { type Bind, Shield, type WorkspaceOwner } from "./shield.ts";
export { protectedNames, protectedWhenThere, whyPathObeyed } from "./protected.ts";
export { closeSiblings, openSiblings, siblingsInside } from "./siblings.ts";
export { containersFolder } from "./stubs.ts";
export { canOwn, ownersIn } from "./owners.ts";
export {
  checkReadable,
  checkWorkspace,
  isWithin,
  jailOwner,
  type JailUser,
  jailUser,
  mappedUser,
  ownerOf,
} from "./workspace.ts";
