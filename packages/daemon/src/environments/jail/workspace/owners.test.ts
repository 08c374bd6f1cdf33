import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Owner } from "../../port.ts";
import { jailUser } from "../../walled/index.ts";
import { TestPlace } from "../testing/place.ts";

let place: TestPlace;
beforeEach(() => {
  place = new TestPlace();
});
afterEach(() => place.remove());

describe.skipIf(process.getuid?.() !== 0)("users of workspaces (needs root)", () => {
  test("are different ones, who can do nothing to each other's processes and files where no other wall is left", async () => {
    // Whoever is outside finds the files by their path.
    chmodSync(place.home, 0o755);
    const [one, other] = [await workspace("one"), await workspace("other")];
    expect(other.owner.uid).not.toBe(one.owner.uid);
    const { environment, run } = await place.open({ workspace: one.path });
    await place.open({ workspace: other.path });
    await run("umask 022; echo one >file; (umask 077; echo one >secret)");
    const { pid } = environment.state.supervisor;
    const attempts = {
      reads: `cat ${one.path}/secret`,
      writes: `echo x >${one.path}/file`,
      adds: `: >${one.path}/new`,
      enters: `ls /proc/${pid}/root/run/corral`,
      environ: `cat /proc/${pid}/environ`,
      signals: `kill -0 ${pid}`,
    };
    const outcomes = ({ uid, gid }: Owner) =>
      Object.entries(attempts).map(([name, text]) => [name, runAs({ uid, gid }, text)]);
    expect(outcomes(other.owner)).toEqual(Object.keys(attempts).map((name) => [name, "refused"]));
    expect(outcomes(one.owner)).toEqual(Object.keys(attempts).map((name) => [name, "done"]));
  });

  test("are called agent inside, and jails in one workspace have one", async () => {
    const { path, owner } = await workspace("one");
    const jails = [await place.open({ workspace: path }), await place.open({ workspace: path, access: "read" })];
    const said = await Promise.all(jails.map(({ run }) => run("id -u; id -g; id -G; id -un; id -gn; stat -c %U .")));
    const expected = `${`${owner.uid}\n`.repeat(3)}${"agent\n".repeat(3)}`;
    expect(said.map(({ stdout }) => stdout)).toEqual([expected, expected]);
  });

  test("are, in place, whoever owns the folder", async () => {
    const folder = join(place.home, "users");
    mkdirSync(folder);
    chownSync(folder, 1234, 1235);
    const { run } = await place.open({ workspace: folder });
    expect((await run("id -u; id -g; id -un")).stdout).toBe("1234\n1235\nagent\n");
  });

  test("read a sibling's files, and change none", async () => {
    const [one, other] = [await workspace("one"), await workspace("other")];
    const sibling = await place.open({ workspace: one.path });
    await sibling.run("echo theirs >file; mkdir folder; echo deep >folder/file");
    const { run } = await place.open({ workspace: other.path, siblings: { ada: one.path } });
    expect((await run("cat /siblings/ada/file /siblings/ada/folder/file")).stdout).toBe("theirs\ndeep\n");
    expect(await run("echo x >/siblings/ada/file")).toMatchObject({
      stderr: expect.stringMatching(/Read-only/) as string,
    });
  });

  test("of earlier versions, who share one, go on with it", async () => {
    expect(jailUser(place.workspace)).toEqual({ kind: "switched", uid: 65533, gid: 65533 });
    const { run } = await place.open();
    expect((await run("id -u; id -un; echo x >file && cat file")).stdout).toBe("65533\nagent\nx\n");
  });
});

async function workspace(name: string): Promise<{ path: string; owner: Owner }> {
  const path = join(place.home, name);
  mkdirSync(path);
  const owner = await place.driver().newOwner!();
  chownSync(path, owner.uid, owner.gid);
  writeFileSync(join(path, "begun"), "");
  return { path, owner };
}

/** With none of the jail's walls but who it is. */
function runAs({ uid, gid }: Owner, text: string): "done" | "refused" {
  const become = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
  return spawnSync("setpriv", [...become, "/bin/sh", "-c", text]).status === 0 ? "done" : "refused";
}
