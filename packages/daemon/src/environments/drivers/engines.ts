/** Where engines of containers listen, those of the user before those of the system. */
export function engineSockets(variables: Readonly<Record<string, string | undefined>>): string[] {
  const named = /^unix:\/\/(\/.+)$/.exec(variables["DOCKER_HOST"] ?? "")?.[1];
  const runtime = variables["XDG_RUNTIME_DIR"];
  const own = runtime === undefined ? [] : [`${runtime}/podman/podman.sock`, `${runtime}/docker.sock`];
  return [...(named === undefined ? [] : [named]), ...own, "/run/podman/podman.sock", "/var/run/docker.sock"];
}

/** What to do where none answers. */
export const engineFix =
  "Install Podman and start its socket: systemctl --user enable --now podman.socket (or Docker; DOCKER_HOST=unix://PATH names another socket).";
