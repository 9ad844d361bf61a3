/**
 * The core of Offstage: the `exec` and `process` tools over any {@linkcode Runtime}.
 *
 * Programs use an entry point that brings its runtime: `offstage/node`, `offstage/deno`, `offstage/bun` or
 * `offstage/auto`. This one is for authors of runtimes and spawners, and for tests with a clock of their own.
 *
 * @module
 */

// the instance
export { createOffstage } from "./src/offstage.ts";
export type { Agent, ProcessDetails } from "./src/agent.ts";
export type { Offstage, OffstageConfig, OffstageOptions } from "./src/offstage.ts";
export type { ConfiguredHost, ExecConfig, InheritPolicy, Settings } from "./src/config.ts";
export { explainSettings } from "./src/settings_origin.ts";
export type { SettingOrigin } from "./src/settings_origin.ts";
export type { LimitEnd, LimitEvidence, LimitName, Limits } from "./src/limits.ts";
export { AbortError, OffstageError } from "./src/errors.ts";
export type { ErrorCode, Problem } from "./src/errors.ts";
export { nearest } from "./src/nearest.ts";

// exec
export type { ExecParams } from "./src/exec/schema.ts";
export type { ExecOptions } from "./src/exec/exec.ts";
export type { ExecUpdate } from "./src/exec/updates.ts";
export type {
  EndedDetails,
  ExecAnswer,
  ExecDetails,
  NotStartedDetails,
  RunningDetails,
  ToolAnswer,
} from "./src/exec/answer.ts";
export type { Elevation, ExecRequest, Hosts, Verdict } from "./src/exec/prepare.ts";
export { chooseNode } from "./src/exec/choose_node.ts";
export type { ChosenNode, NodeDirectory, NodeInfo } from "./src/exec/nodes.ts";
export { routeHost } from "./src/exec/route.ts";
export type { HostName, Route, RouteRequest } from "./src/exec/route.ts";
export { INJECTION_VARIABLES, isInjectionVariable } from "./src/exec/environment.ts";
export type { InjectionTable } from "./src/exec/environment.ts";

// process
export type { ProcessAction, ProcessParams } from "./src/process/schema.ts";
export type { ProcessOptions } from "./src/process/dispatch.ts";
export type { DepartedSession, FailureDetails, StatusDetails } from "./src/process/answer.ts";
export type { KillDetails } from "./src/process/kill.ts";
export type { ListDetails, ListEntry } from "./src/process/list.ts";
export type { BytePage } from "./src/output/byte_page.ts";
export type { LogDetails, LogLine } from "./src/process/log.ts";
export type { PollDetails } from "./src/process/poll.ts";
export type { ResizeDetails } from "./src/process/resize.ts";
export type { ScreenDetails } from "./src/process/screen.ts";
export type { WriteDetails } from "./src/process/typing.ts";
export type { Until, WokenBy } from "./src/process/until.ts";

// as tools of a model
export type { Tool, ToolsOptions } from "./src/tools/tools.ts";
export type { ToolAnnotations } from "./src/tools/definition.ts";
export type {
  CheckedInput,
  InputIssue,
  InputResult,
  InputSchema,
  JsonSchemaOptions,
} from "./src/tools/input_schema.ts";

// sessions
export type { ExitEvent, MatchEvent, SessionEvent } from "./src/session/event.ts";
export type { AgentEvents, EventList, QueuedEvent } from "./src/session/events.ts";
export type { InputEvidence } from "./src/session/input_wait.ts";
export type { Match, MatchCounts, NotifyOn } from "./src/session/line_watch.ts";
export type { EndReason, EndStatus, Outcome, StopCause } from "./src/session/outcome.ts";
export type { SessionEnd } from "./src/session/end_all.ts";
export type { Blocker, BlockerWhy, SuspendAnswer, Suspension } from "./src/session/suspension.ts";
export { DURATION_BOUNDS_MS } from "./src/session/stats.ts";
export type { Stats } from "./src/session/stats.ts";
export type { SizeChange } from "./src/session/sizes.ts";
export type { SessionView } from "./src/session/view.ts";
export type { Segment } from "./src/output/segments.ts";
export type { TerminalModes } from "./src/terminal/watch.ts";
export type { Departure } from "./src/session/tombstones.ts";
export type { Survivor } from "./src/session/session.ts";
export type { StreamBytes } from "./src/output/log.ts";
export { KEY_NAMES } from "./src/terminal/key_table.ts";

// the seam
export type {
  Child,
  Clock,
  DirectoryStatus,
  Exit,
  GuardStatus,
  InputReader,
  OrphanGuard,
  OutputSink,
  Place,
  Runtime,
  SignalName,
  SignalOutcome,
  Spawner,
  SpawnerCapabilities,
  SpawnSpec,
  StreamName,
  TerminalSize,
  TreeInspector,
  TreeProcess,
  WrappingHost,
} from "./src/runtime.ts";
