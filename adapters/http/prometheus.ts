/**
 * The text format in which Prometheus reads numbers, version 0.0.4.
 *
 * @module
 */

/** One number. */
export interface Sample {
  /** Put after the family's name, as histograms need it. */
  readonly suffix?: string;
  /** What tells it from others of its family. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its value now. */
  readonly value: number;
}

/** Numbers of one kind. */
export interface Family {
  /** Its name, e.g. `offstage_sessions`. */
  readonly name: string;
  /** What kind of numbers these are. */
  readonly type: "counter" | "gauge" | "histogram";
  /** What they mean, one line. */
  readonly help: string;
  /** The numbers. */
  readonly samples: readonly Sample[];
}

/** The text of all families. */
export function exposition(families: readonly Family[]): string {
  return families.map(({ name, type, help, samples }) =>
    [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples.map((sample) => line(name, sample)), ""].join("\n")
  ).join("");
}

function line(name: string, { suffix = "", labels = {}, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${suffix}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
