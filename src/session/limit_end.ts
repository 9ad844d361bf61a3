/**
 * Which of a session's limits ended it, as far as that can be known.
 *
 * @module
 */
import type { LimitEnd, LimitName } from "../limits.ts";
import type { Exit } from "../runtime.ts";
import type { StopCause } from "./outcome.ts";
import type { Session } from "./session.ts";

/** A shell's code for a program that SIGXCPU ended: 128 + 24. */
const XCPU_CODE = 152;

/** How much of the end of the output is searched, characters: what a program dies of it says last. */
const SEARCHED_CHARS = 2_000;

/**
 * What programs say when they are denied something: the C library's words for ENOMEM, EMFILE and EAGAIN, and those of
 * shells and language runtimes. Of two limits that have a phrase in common the first one here is named.
 */
const PHRASES: Readonly<Partial<Record<LimitName, RegExp>>> = {
  openFiles: /too many open files|\bEMFILE\b|no (?:more )?file descriptors/gi,
  processes:
    /resource temporarily unavailable|(?:cannot|can't|could not|unable to) fork|fork failed|start new thread|\bEAGAIN\b/gi,
  memoryBytes:
    /cannot allocate|(?:failed|unable|could not) (?:to )?(?:allocate|reserve)|out of memory|process OOM|MemoryError|bad_alloc|memory exhausted|not enough memory|OutOfMemory|start new thread|\bENOMEM\b/gi,
  cpuSeconds: /cpu ?time limit exceeded|exceeded cpu time limit|cpu limit exceeded|\bSIGXCPU\b/gi,
};

/**
 * The limit that ended a session: what we or the kernel know for certain, else what the end of a failed command's output
 * says. `null` if it was something else, or nobody can tell.
 *
 * @param cause why we stopped it, if we did
 */
export function limitThatEnded(session: Session, exit: Exit, cause: StopCause | undefined): LimitEnd | null {
  const { limits } = session.facts;
  if (limits === undefined) return null;
  if (cause === "limit") return { name: "outputBytes", evidence: "counted" };
  if (cause !== undefined || exit.code === 0 || exit.code === null || exit.lost !== undefined) return null;
  const isCpuSignal = exit.signal === "SIGXCPU" || exit.code === XCPU_CODE;
  if (limits.cpuSeconds !== undefined && isCpuSignal) return { name: "cpuSeconds", evidence: "signal" };
  const named = lastNamed(session.tail(SEARCHED_CHARS), (name) => limits[name] !== undefined);
  return named === undefined ? null : { name: named, evidence: "output" };
}

function lastNamed(text: string, isSet: (name: LimitName) => boolean): LimitName | undefined {
  let last: { readonly name: LimitName; readonly at: number } | undefined;
  for (const [name, phrase] of Object.entries(PHRASES) as [LimitName, RegExp][]) {
    const at = isSet(name) ? [...text.matchAll(phrase)].at(-1)?.index : undefined;
    if (at !== undefined && (last === undefined || at > last.at)) last = { name, at };
  }
  return last?.name;
}
