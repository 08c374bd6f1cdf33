import type { DaemonInfo, DaemonStatus } from "@corral/protocol";
import { defineSlice } from "../assembly/index.ts";
import { diskUse } from "./disk.ts";
import { openHome } from "./home.ts";
import { removeDaemonInfo, writeDaemonInfo } from "./info.ts";
import { lockHome } from "./lock.ts";
import { ownerToken } from "./token.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly home: OwnHome;
  }
}

/** The home, which is this daemon's alone until it is closed. */
interface OwnHome {
  readonly folder: string;
  readonly database: string;
  /** The owner's token. */
  readonly token: string;
  diskUse(): DaemonStatus["disk"];
  /** Tells clients where the daemon is. */
  announce(info: DaemonInfo): void;
  release(): void;
}

export const home = defineSlice({
  name: "home",
  needs: ["machine"],
  open({ machine }) {
    const own = openHome(machine.home);
    const lock = lockHome(own);
    return {
      folder: own.folder,
      database: own.database,
      token: ownerToken(own),
      diskUse: () => diskUse(own),
      announce: (info) => writeDaemonInfo(own, info),
      release() {
        removeDaemonInfo(own);
        lock.release();
      },
    };
  },
  close(own, { machine }) {
    machine.logger.child({ component: "daemon" }).info({}, "the daemon has stopped");
    own.release();
  },
});
