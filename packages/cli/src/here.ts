import { CorralError } from "@corral/protocol/error";

/** The folder that this program was started in, which may be gone. */
export function folderHere(where: () => string): string {
  try {
    return where();
  } catch (cause) {
    throw new CorralError("project.missing", "The folder that this was started in is gone", {
      hint: "Go to one that is there (`cd`), then try again",
      cause,
    });
  }
}
