/**
 * Waiting for what may not come.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers";

/** What a promise gives, or `undefined` if that takes too long. */
export async function within<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => timer = setTimeout(() => resolve(undefined), limitMs));
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
