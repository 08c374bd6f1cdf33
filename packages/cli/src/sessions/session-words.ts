/** How a session is named, for the help of commands that take one. */
export const sessionWords =
  "SESSION is a session's id, the beginning or end of one if that is unique, or @last: the latest session of this project.";

/** For commands that can do without. */
export const latestByDefault = `${sessionWords} Without SESSION, the latest session is used.`;
