/**
 * Fairness between scopes: who holds the most gives up first, so a noisy agent cannot push out what others hold.
 *
 * @module
 */

/**
 * The entry that holds the most, the first of equals; `undefined` if none holds anything.
 *
 * @param entries whoever shares a limit
 * @param share how much of it one of them holds
 */
export function fullest<T>(entries: Iterable<T>, share: (entry: T) => number): T | undefined {
  let first: T | undefined;
  let most = 0;
  for (const entry of entries) {
    const held = share(entry);
    if (held <= most) continue;
    first = entry;
    most = held;
  }
  return first;
}
