/**
 * What whoever serves the protocol can choose.
 *
 * @module
 */

/** Options of {@linkcode createMcpServer}. */
export interface McpOptions {
  /**
   * Whether there is a third tool, `process_read`, which only looks (list, poll, log, screen), so that a client can allow
   * its calls without asking its user. @default {false}
   */
  readonly readOnlyTool?: boolean;
  /** Told of what went wrong with a client and changes no answer, such as a message that is no JSON. Default: nobody. */
  readonly onError?: (error: Error) => void;
}
