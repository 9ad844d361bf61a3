/**
 * Code that is loaded when it is first used: what a program may never need is not on the way of its start.
 *
 * @module
 */

/** A module that is loaded on its first use. */
export interface OnUse<Module> {
  /** Begins to load it, for one who will use it soon. Why it could not be loaded is told to whoever uses it. */
  begin(): void;
  /** The module, for one who knows that it has been used. */
  used(): Module;
  /**
   * Calls with the module: at once if it is there, else as soon as it is.
   *
   * @returns what `use` returns; rejects if the module cannot be loaded, and the next use tries again
   */
  use<T>(use: (module: Module) => Promise<T>): Promise<T>;
}

/**
 * Makes a module of one that is loaded on its first use.
 *
 * @param load a dynamic import
 */
export function onUse<Module>(load: () => Promise<Module>): OnUse<Module> {
  let module: Module | undefined;
  let loading: Promise<Module> | undefined;

  function loaded(): Promise<Module> {
    return loading ??= load().then(
      (value) => (module = value),
      (error) => {
        loading = undefined;
        throw error;
      },
    );
  }

  return {
    begin: () => void loaded().catch(() => {}),
    used: () => {
      if (module === undefined) throw new TypeError("Cannot give a module that has not been used yet");
      return module;
    },
    use: (use) => module === undefined ? loaded().then(use) : use(module),
  };
}
