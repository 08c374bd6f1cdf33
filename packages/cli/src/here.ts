import { CorralError } from "@corral/protocol/error";

/** The folder that this program was started in, which may be gone. */
export function folderHere(where: () => string): string {
  try {
    return where();
  } catch (cause) {
    throw new CorralError("project.missing", "The current folder no longer exists", {
      hint: "Change to an existing folder (`cd`), then try again",
      cause,
    });
  }
}
