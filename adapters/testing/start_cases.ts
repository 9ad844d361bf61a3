/**
 * How a command is started: its arguments, directory, environment and input, and what happens when it cannot be.
 *
 * @module
 */
import { type CaseDefinition, eitherWay, inTerminal, onPipes } from "./case.ts";
import { expectEqual, expectRejection, expectThat } from "./expect.ts";

const AWKWARD_ARGUMENTS: readonly string[] = [
  "two words",
  "  edges  ",
  `"double" 'single'`,
  "$HOME `id` \\n * ~",
  "line\nfeed",
  "naïve 日本 👩‍💻",
  "",
  "-n",
  "--",
];
const AWKWARD_VARIABLES: Readonly<Record<string, string>> = {
  SPACES: "  a  b ",
  QUOTES: "\"'`$HOME\\",
  TEXT: "naïve 日本",
  EQUALS: "a=b",
  EMPTY: "",
};
// What shells and the system's libraries put there themselves
const ADDED_VARIABLES: readonly string[] = ["PWD", "OLDPWD", "SHLVL", "_", "__CF_USER_TEXT_ENCODING"];

const NO_PROGRAM = "no-such-program-anywhere";
const NOT_EXECUTABLE = "/etc/passwd";
const NO_DIRECTORY = "/no/such/directory";

/** Cases of a start. */
export const startCases: readonly CaseDefinition[] = [
  ...eitherWay("arguments arrive untouched", [], async (bench) => {
    const printed = await bench.print(`printf '[%s]' "$@"`, { args: AWKWARD_ARGUMENTS });
    expectEqual(printed, AWKWARD_ARGUMENTS.map((argument) => `[${argument}]`).join(""), "the arguments");
  }),

  ...eitherWay("the environment is what was given and nothing else", ["environment"], async (bench) => {
    const run = await bench.sh("env; echo done; exec sleep 60", { env: AWKWARD_VARIABLES });
    await run.seen("\ndone\n");
    const lines = run.text().split("\ndone\n", 1).join().split("\n");
    const given = Object.entries(run.spec.env).map(([name, value]) => `${name}=${value}`);
    const seen = lines.filter((line) => !ADDED_VARIABLES.includes(line.split("=", 1).join()));
    expectEqual(seen.sort(), given.sort(), "the environment");
  }),

  ...eitherWay("the working directory is the one that was given", [], async (bench) => {
    expectEqual(await bench.print("pwd", { cwd: "/" }), "/\n", "the directory");
    const wanted = await bench.print('cd "$1" && pwd -P', { cwd: "/", args: [bench.cwd] });
    expectEqual(await bench.print("pwd -P"), wanted, "the directory");
  }),

  ...eitherWay("the process id, where there is one, is that of the command itself", ["pid"], async (bench) => {
    const run = await bench.sh("echo $$; exec sleep 60");
    await run.seen("\n");
    if (run.child.pid !== undefined) expectEqual(run.child.pid, Number(run.text()), "the process id");
  }),

  onPipes("a closed stdin is at its end at once", [], async (bench) => {
    const run = await bench.start(["wc", "-c"]);
    expectEqual(await run.finish(), { code: 0 }, "the exit of wc");
    expectEqual(run.text().trim(), "0", "the bytes that wc read");
  }),

  onPipes("without a terminal nothing is one, and nothing can be resized", [], async (bench) => {
    const script = "for i in 0 1 2; do test -t $i && echo tty || echo none; done";
    expectEqual(await bench.print(script, { stdin: "open" }), "none\n".repeat(3), "what 0, 1 and 2 are");
    expectThat((await bench.sh(":")).child.resize === undefined, "there is no resize on pipes");
  }),

  inTerminal("a terminal is what 0, 1, 2 and /dev/tty are", [], async (bench) => {
    const script =
      "for i in 0 1 2; do test -t $i && echo tty || echo none; done; (: </dev/tty) 2>&1 && echo controlling";
    expectEqual(await bench.print(script), `${"tty\n".repeat(3)}controlling\n`, "what 0, 1, 2 and /dev/tty are");
  }),

  ...eitherWay("a program that does not exist is a spawn failure that names it", ["spawn-errors"], async (bench) => {
    const error = await expectRejection(bench.start([NO_PROGRAM]), "spawn-failed", "the spawn");
    expectThat(error.message.includes(NO_PROGRAM), `the message names the program: ${error.message}`);
  }),

  ...eitherWay("a file that is no program is a spawn failure that names it", ["spawn-errors"], async (bench) => {
    const error = await expectRejection(bench.start([NOT_EXECUTABLE]), "spawn-failed", "the spawn");
    expectThat(error.message.includes(NOT_EXECUTABLE), `the message names the program: ${error.message}`);
  }),

  ...eitherWay("a directory that has gone is a spawn failure that names it", ["spawn-errors"], async (bench) => {
    const error = await expectRejection(bench.start(["true"], { cwd: NO_DIRECTORY }), "spawn-failed", "the spawn");
    expectThat(error.message.includes(NO_DIRECTORY), `the message names the directory: ${error.message}`);
  }),
];
