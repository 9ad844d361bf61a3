/**
 * Which shell each host has, found once.
 *
 * @module
 */
import type { Place, Runtime, Spawner } from "../runtime.ts";
import { chooseShell, type Shell, type ShellChoice } from "./shell.ts";

type Environment = ShellChoice["environment"];

/**
 * Chooses as {@linkcode chooseShell} does and remembers the choice for as long as `SHELL` and `PATH` are the same: the
 * file system is not searched at every start. A shell that is uninstalled meanwhile fails at its start, by its name.
 *
 * @param option the configured shell; it has to be there on every host
 * @param runtime this machine
 * @returns what gives the shell of a spawner; this machine's environment says nothing about another place
 */
export function createShells(
  option: string | undefined,
  runtime: Runtime,
): (spawner: Spawner, environment: Environment) => Shell | Promise<Shell> {
  const { platform } = runtime;
  const here = createChooser({ option, platform, hasProgram: (name) => runtime.hasProgram(name) });
  const elsewhere = new WeakMap<Place, Promise<Shell>>();
  return ({ place }, environment) => {
    if (place === undefined) return here(environment);
    const known = elsewhere.get(place);
    if (known !== undefined) return known;
    const hasProgram = async (name: string): Promise<boolean> => await place.hasProgram(name);
    const choice = chooseShell({ option, environment: {}, platform: "posix", hasProgram });
    elsewhere.set(place, choice);
    choice.catch(() => elsewhere.delete(place)); // it may be installed yet
    return choice;
  };
}

function createChooser(choice: Omit<ShellChoice, "environment">): (environment: Environment) => Shell | Promise<Shell> {
  let known:
    | { readonly shell: Shell; readonly login: string | undefined; readonly path: string | undefined }
    | undefined;

  async function choose(environment: Environment): Promise<Shell> {
    const shell = await chooseShell({ ...choice, environment });
    known = { shell, login: environment["SHELL"], path: environment["PATH"] };
    return shell;
  }

  return (environment) => {
    const isKnown = known?.login === environment["SHELL"] && known?.path === environment["PATH"];
    return isKnown && known !== undefined ? known.shell : choose(environment);
  };
}
