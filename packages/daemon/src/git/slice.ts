import { defineSlice } from "../assembly/index.ts";
import { endLeftJails } from "./index.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly git: { endLeftJails(): Promise<unknown> };
  }
}

export const git = defineSlice({
  name: "git",
  needs: ["home"],
  open: ({ home }) => ({ endLeftJails: () => endLeftJails(home.folder) }),
  async settle(own) {
    await own.endLeftJails();
  },
});
