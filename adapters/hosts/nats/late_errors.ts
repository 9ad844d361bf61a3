/**
 * Deno ends a process for an error that a socket tells after the library of NATS has taken its listeners away.
 *
 * The library takes them all away when it has read that it is refused, and destroys the socket. If the server has reset
 * the connection by then, Deno still tells that error, a turn after it has met it; Node and Bun have told it before.
 *
 * @module
 */

/** What is used of the library's sockets. */
interface ErrorSource {
  on(name: "error", hear: () => void): unknown;
  removeAllListeners(name?: string): this;
}

type Opening = (this: unknown, ...args: unknown[]) => Promise<ErrorSource>;

/** The library's methods that open sockets. */
const OPENINGS = ["dial", "startTLS", "tlsFirst"] as const;

/** What opens the library's sockets. */
export interface SocketOpener {
  /** Where its methods are. */
  readonly prototype: Partial<Record<typeof OPENINGS[number], Opening>>;
}

const withstanding = new WeakSet<SocketOpener>();

/** Has somebody listen for errors to all sockets that it opens from now on, for as long as they live. Idempotent. */
export function withstandLateErrors(opener: SocketOpener): void {
  if (withstanding.has(opener)) return;
  withstanding.add(opener);
  const { prototype } = opener;
  for (const name of OPENINGS) {
    const open = prototype[name];
    if (open === undefined) continue;
    prototype[name] = async function (this: unknown, ...args: unknown[]): Promise<ErrorSource> {
      return keepListener(await open.apply(this, args));
    };
  }
}

function keepListener(socket: ErrorSource): ErrorSource {
  const { removeAllListeners } = socket;
  socket.removeAllListeners = function (this: ErrorSource, ...args: [name?: string]): ErrorSource {
    removeAllListeners.apply(this, args);
    this.on("error", ignore);
    return this;
  } as typeof removeAllListeners;
  socket.on("error", ignore);
  return socket;
}

function ignore(): void {}
