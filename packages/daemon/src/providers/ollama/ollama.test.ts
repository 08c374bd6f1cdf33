import { describeProvider, scriptedStage } from "../conformance.ts";
import { ollama } from "./driver.ts";

// The scripted model wants some key of everybody.
describeProvider("ollama", () =>
  scriptedStage((baseUrl) => ollama.open({ baseUrl, key: "key" }), { callsEndWithReply: true }),
);
