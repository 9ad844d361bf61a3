/**
 * Failed logins are counted for each client address: whoever guesses tokens is made to wait.
 *
 * @module
 */

/** Counts failures. */
export interface Throttle {
  /** How long the client at that address has to wait, seconds; 0 if he may try. */
  waitSeconds(address: string): number;
  /** Another failure from there. */
  failed(address: string): void;
}

/** Failures from one address in {@linkcode WINDOW_MS} that are answered as such; a token of 128 bits is safe from them. */
const MOST_FAILURES = 10;

/** How long failures are counted, from the first on, ms. */
const WINDOW_MS = 60_000;

/** Addresses that are remembered: whoever has many of them must not fill the memory. */
const MOST_ADDRESSES = 10_000;

/**
 * Makes a throttle.
 *
 * @param now a clock that never jumps, ms
 */
export function createThrottle(now: () => number = () => performance.now()): Throttle {
  const failures = new Map<string, { count: number; readonly until: number }>(); // the oldest first

  function current(network: string): { count: number; readonly until: number } | undefined {
    const entry = failures.get(network);
    if (entry === undefined || entry.until > now()) return entry;
    failures.delete(network);
    return undefined;
  }

  return {
    waitSeconds: (address) => {
      const entry = current(networkOf(address));
      return entry === undefined || entry.count < MOST_FAILURES ? 0 : Math.ceil((entry.until - now()) / 1_000);
    },
    failed: (address) => {
      const network = networkOf(address);
      const entry = current(network);
      if (entry !== undefined) {
        entry.count += 1;
        return;
      }
      failures.set(network, { count: 1, until: now() + WINDOW_MS });
      const [oldest] = failures.keys();
      if (failures.size > MOST_ADDRESSES && oldest !== undefined) failures.delete(oldest);
    },
  };
}

/** One client has one IPv4 address, but 2^64 of IPv6: these are counted as one, by their first 64 bits. */
export function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  if (!address.includes(":") || address.includes(".")) return address;
  const groups = head.split(":").filter((group) => group !== "");
  const rest = tail?.split(":").filter((group) => group !== "") ?? [];
  const zeros = tail === undefined ? 0 : 8 - groups.length - rest.length;
  const whole = [...groups, ...Array<string>(Math.max(0, zeros)).fill("0"), ...rest];
  return whole.slice(0, 4).map((group) => group.toLowerCase().replace(/^0+(?=.)/, "")).join(":");
}
