/**
 * Where settings come from is told as they are resolved.
 *
 * @module
 */
import { assertEquals, assertThrows } from "@std/assert";
import { test } from "node:test";
import { explainSettings, OffstageError, type SettingOrigin } from "../mod.ts";
import { resolveSettings } from "../src/config.ts";

function origin(key: string, ...given: Parameters<typeof explainSettings>): SettingOrigin | undefined {
  return explainSettings(...given).find((each) => each.key === key);
}

test("C1 every setting is told with the value that is in force", () => {
  const given = [{ maxSessions: 3, shell: "sh" }, { OPENCLAW_BASH_YIELD_MS: "5" }] as const;
  const told = Object.fromEntries(explainSettings(...given).map(({ key, value }) => [key, value]));
  assertEquals<unknown>(told, { ...resolveSettings(...given) });
});

test("C2 an option beats its variable, which beats the default, and what has no effect is named", () => {
  const key = "backgroundMs";
  const name = "OPENCLAW_BASH_YIELD_MS";
  const older = "PI_BASH_YIELD_MS";
  assertEquals(origin(key, {}, {}), { key, value: 10_000, from: "default", ignored: [] });
  assertEquals(origin(key, {}, { [name]: "500" }), {
    key,
    value: 500,
    from: "environment",
    variable: name,
    ignored: [],
  });
  assertEquals(origin(key, { backgroundMs: 50 }, { [name]: "500" }), {
    key,
    value: 50,
    from: "option",
    ignored: [name],
  });
  assertEquals(origin(key, {}, { [name]: "soon" }), { key, value: 10_000, from: "default", ignored: [name] });
  assertEquals(origin(key, {}, { [name]: "soon", [older]: "7000" }), {
    key,
    value: 7_000,
    from: "environment",
    variable: older,
    ignored: [name],
  });
  assertEquals(origin(key, {}, { [name]: " " }), { key, value: 10_000, from: "default", ignored: [] });
});

test("C1 the older name of timeoutSeconds counts as the option", () => {
  assertEquals(origin("timeoutSeconds", { timeoutSec: 9 }, {})?.from, "option");
});

test("C1 a wrong configuration throws as it does for an instance", () => {
  assertThrows(() => explainSettings({ maxSession: 1 } as object, {}), OffstageError, "maxSession");
});
