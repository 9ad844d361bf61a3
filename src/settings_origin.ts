/**
 * Where each setting in force came from, for whoever wonders about one.
 *
 * @module
 */
import {
  type ExecConfig,
  type NumberKey,
  NUMBERS,
  overridingVariable,
  resolveSettings,
  type Settings,
} from "./config.ts";

/** A setting in force, and where it came from. */
export interface SettingOrigin {
  /** Its key in `tools.exec`. */
  readonly key: keyof Settings;
  /** Its value in force. */
  readonly value: Settings[keyof Settings];
  /** Who has set it: the configuration, an environment variable, or nobody. */
  readonly from: "option" | "environment" | "default";
  /** The environment variable that has set it. */
  readonly variable?: string;
  /** Variables that are meant for it and have no effect: overruled, or not a whole number. */
  readonly ignored: readonly string[];
}

/**
 * Every setting with its value in force and where that came from.
 *
 * @param config the object at `tools.exec`
 * @param environment the environment it is read with
 * @throws {OffstageError} `invalid`, with every problem, when a key is unknown or of the wrong type
 *
 * @example
 * ```ts
 * import { explainSettings } from "offstage";
 *
 * const origins = explainSettings({ maxSessions: 8 }, { OPENCLAW_BASH_YIELD_MS: "5000" });
 * console.log(origins.find(({ key }) => key === "backgroundMs")?.variable); // OPENCLAW_BASH_YIELD_MS
 * console.log(origins.find(({ key }) => key === "maxSessions")?.from); // option
 * ```
 */
export function explainSettings(
  config: ExecConfig,
  environment: Readonly<Record<string, string>>,
): readonly SettingOrigin[] {
  const settings = resolveSettings(config, environment);
  return (Object.keys(settings) as (keyof Settings)[]).map((key) => {
    const setting = key in NUMBERS ? NUMBERS[key as NumberKey] : undefined;
    const isGiven = (config[key] ?? (key === "timeoutSeconds" ? config.timeoutSec : undefined)) !== undefined;
    const variable = setting === undefined || isGiven ? undefined : overridingVariable(setting, environment);
    const isSet = (name: string): boolean => (environment[name]?.trim() ?? "") !== "";
    return {
      key,
      value: settings[key],
      from: isGiven ? "option" : variable === undefined ? "default" : "environment",
      ...(variable !== undefined && { variable }),
      ignored: (setting?.env ?? []).filter((name) => name !== variable && isSet(name)),
    };
  });
}
