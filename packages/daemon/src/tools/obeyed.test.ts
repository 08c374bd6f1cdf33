import type { Rulebook } from "@corral/protocol";
import { expect, test } from "vitest";
import { judge } from "../rules/index.ts";
import { editTool } from "./edit.ts";
import { patchTool } from "./patch.ts";
import { writeTool } from "./write.ts";

const inPlace: Rulebook = {
  mode: "auto",
  situation: { environment: "jail", workspace: "in-place", folder: "/workspace" },
  rules: [],
  problems: [],
};

const patch = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");

const calls = {
  write: [writeTool, { path: "a/.envrc", content: "evil\n" }],
  edit: [editTool, { path: "a/.envrc", old: "good", new: "evil" }],
  "patch that adds": [patchTool, { patch: patch("*** Add File: a/.envrc", "+evil") }],
  "patch that moves": [
    patchTool,
    { patch: patch("*** Update File: a/b", "*** Move to: a/.envrc", "@@", "-good", "+evil") },
  ],
  "patch that deletes": [patchTool, { patch: patch("*** Delete File: a/.envrc") }],
} as const;

test.each(Object.entries(calls))(
  "in the user's own folder, %s asks in every mode about what others obey, and shows it",
  (_, [tool, given]) => {
    const { name, effect } = tool;
    const { verdict, why } = judge({ tool: name, effect, ...tool.touches?.(given as never) }, inPlace);
    expect([verdict, why]).toEqual(["ask", "a/.envrc: a shell that enters the folder runs it"]);
    expect(tool.preview?.(given as never)).toContain("a/.envrc");
  },
);
