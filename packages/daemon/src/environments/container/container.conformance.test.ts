import { afterAll, describe } from "vitest";
import { describeEnvironment } from "../conformance.ts";
import { describeTerminals } from "../terminals/conformance.ts";
import { containerUnderTest, openDriverAt } from "./testing/driver.ts";
import { engineFor } from "./testing/podman.ts";

const engine = await engineFor("the conformance of containers");
afterAll(() => engine?.stop());

describe.skipIf(engine === undefined)("with an engine", () => {
  const { socket, image } = engine ?? { socket: "", image: undefined };
  const module = new URL("testing/driver.ts", import.meta.url);
  module.searchParams.set("socket", socket);
  const container = { ...containerUnderTest, plan: { image }, open: openDriverAt(socket), module: module.href };
  describeEnvironment("container", { ...container, opening: "sparing" });
  describeTerminals("a container", container, { lasting: true });
});
