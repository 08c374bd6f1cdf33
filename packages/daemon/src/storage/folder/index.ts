export { openFolderStore } from "./store.ts";
