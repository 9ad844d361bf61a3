/**
 * The globals beyond the language that the core may use, as far as it may use them.
 *
 * `tsconfig.json` beside this file type-checks `src/` with the language's own library and these declarations alone, so
 * a core that reaches for a timer, a console or a runtime does not compile. Whatever is added here must be the same in
 * Node, Deno, Bun and browsers, and must not read time or the machine.
 */

declare class TextEncoder {
  encode(input?: string): Uint8Array;
  encodeInto(source: string, destination: Uint8Array): { readonly read: number; readonly written: number };
}

declare class TextDecoder {
  constructor(label?: "utf-8", options?: { readonly fatal?: boolean; readonly ignoreBOM?: boolean });
  decode(input?: Uint8Array, options?: { readonly stream?: boolean }): string;
}

declare class AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare class DOMException extends Error {
  constructor(message?: string, name?: string);
}

declare function structuredClone<T>(value: T): T;

declare function atob(data: string): string;

declare function btoa(data: string): string;
