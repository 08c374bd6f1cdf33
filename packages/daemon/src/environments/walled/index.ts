export { findAlive, walledEnvironment } from "./environment.ts";
export { type HeldBack, heldBackIn, type HeldContent, heldContents, putBack } from "./held-back/held-back.ts";
export { makeOwnFolder, WalledFolder } from "./folder.ts";
export { Lookouts } from "./shield/lookout.ts";
export { mountPoints } from "./shield/mounts.ts";
export { type Bind, Shield, type WorkspaceOwner } from "./shield/shield.ts";
export { protectedNames, protectedWhenThere, whyPathObeyed } from "./shield/protected.ts";
export { closeSiblings, openSiblings, siblingsInside } from "./shield/siblings.ts";
export { containersFolder } from "./shield/stubs.ts";
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
