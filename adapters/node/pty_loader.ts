/**
 * How a package that opens terminals is found. Apart from its users, because this is public and they need Node's types.
 *
 * @module
 */

/** Imports a module with node-pty's interface, e.g. `() => import("@lydell/node-pty")`. */
export type PtyLoader = () => Promise<unknown>;
