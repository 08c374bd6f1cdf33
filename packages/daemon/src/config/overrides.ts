import { type SettingKey, settingKeys, settings, typedValue } from "@corral/protocol";
import type { Overrides, Resolved } from "./layers.ts";

export interface RefusedVariable {
  readonly name: string;
  readonly message: string;
}

/** What the environment and the command line say, which wins over every file. */
export function overridesFrom(
  variables: Readonly<Record<string, string | undefined>>,
  flags: Readonly<Partial<Record<SettingKey, { readonly name: string; readonly value: unknown }>>>,
): { readonly overrides: Overrides; readonly refused: readonly RefusedVariable[] } {
  const overrides = new Map<SettingKey, Resolved>();
  const refused: RefusedVariable[] = [];
  for (const key of settingKeys) {
    const { variable: name, schema } = settings[key] as {
      variable?: string;
      schema: (typeof settings)[SettingKey]["schema"];
    };
    const text = name === undefined ? undefined : variables[name];
    if (name !== undefined && text !== undefined && text !== "") {
      const value = typedValue(key, text);
      if (value === undefined)
        refused.push({ name, message: schema.safeParse(text).error?.issues[0]?.message ?? "invalid" });
      else overrides.set(key, { value, origin: { kind: "variable", name } });
    }
    const flag = flags[key];
    if (flag !== undefined) overrides.set(key, { value: flag.value, origin: { kind: "flag", name: flag.name } });
  }
  return { overrides, refused };
}
