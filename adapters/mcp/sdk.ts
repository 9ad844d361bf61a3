/**
 * The protocol's own package, loaded on use.
 *
 * @module
 */
import { OffstageError } from "../../mod.ts";

/** `@modelcontextprotocol/server`. */
export type Sdk = typeof import("@modelcontextprotocol/server");

/** Its part for stdin and stdout. */
export type StdioSdk = typeof import("@modelcontextprotocol/server/stdio");

/**
 * Loads the package.
 *
 * @throws {OffstageError} `unsupported` if it is not installed
 */
export function loadSdk(
  load: () => Promise<Sdk> = () => import("@modelcontextprotocol/server"),
): Promise<Sdk> {
  return load().catch(missing);
}

/**
 * Loads the part for stdin and stdout.
 *
 * @throws {OffstageError} `unsupported` if it is not installed
 */
export function loadStdioSdk(): Promise<StdioSdk> {
  return import("@modelcontextprotocol/server/stdio").catch(missing);
}

function missing(error: unknown): never {
  const [reason] = String((error as Error | undefined)?.message ?? error).split("\n");
  throw new OffstageError(
    "unsupported",
    "Cannot serve MCP: @modelcontextprotocol/server is missing. Install it beside offstage " +
      `(npm install @modelcontextprotocol/server) [${reason}]`,
    { cause: error },
  );
}
