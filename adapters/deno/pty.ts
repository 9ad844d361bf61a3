/**
 * Terminals on Deno: node-pty, with what Deno's file functions cannot do for it.
 *
 * @module
 */

import type { NodePty, NodePtyTerminal } from "../node/node_pty.ts";
