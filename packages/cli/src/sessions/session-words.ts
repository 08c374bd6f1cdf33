/** How a session is named, for the help of commands that take one. */
export const sessionWords =
  "SESSION is an id, its beginning or its end as far as no other session has it, or @last: the latest one of this project.";
