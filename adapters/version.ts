/**
 * What this package calls itself to others.
 *
 * @module
 */

/** The version of both manifests. */
export const VERSION = "0.1.0";
