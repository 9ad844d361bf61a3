/**
 * What is counted while the app serves, and all of it as Prometheus reads it.
 *
 * @module
 */
import { DURATION_BOUNDS_MS, type Offstage, type Stats } from "../../mod.ts";
import { type App, onlyAdmin } from "./caller.ts";
import { exposition, type Family, type Sample } from "./prometheus.ts";

/** How somebody looks on: at a session's output, at a scope's events, at a terminal. */
export type ViewerKind = "output" | "events" | "attach";

/** The counters of one app. */
export interface Metrics {
  /**
   * Somebody has begun to look on.
   *
   * @returns to be called when he has gone; safe to call twice
   */
  viewer(kind: ViewerKind): () => void;
  /** A login has failed. */
  loginFailed(): void;
  /** A request has been answered; its stream may go on. */
  request(route: string, method: string, status: number): void;
  /** All that has been counted. */
  families(): readonly Family[];
}

/** Makes counters that are all 0. */
export function createMetrics(): Metrics {
  const viewers = new Map<ViewerKind, number>([["output", 0], ["events", 0], ["attach", 0]]);
  const requests = new Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>();
  let failedLogins = 0;
  const count = (kind: ViewerKind, by: number): void => void viewers.set(kind, (viewers.get(kind) ?? 0) + by);
  return {
    viewer: (kind) => {
      count(kind, 1);
      let watching = true;
      return () => {
        if (watching) count(kind, -1);
        watching = false;
      };
    },
    loginFailed: () => void (failedLogins += 1),
    request: (route, method, status) => {
      const key = `${method} ${route} ${status}`;
      const known = requests.get(key);
      if (known !== undefined) known.value += 1;
      else requests.set(key, { labels: { method, route, status: `${status}` }, value: 1 });
    },
    families: () => [
      {
        name: "offstage_http_requests_total",
        type: "counter",
        help: "Requests answered, by route.",
        samples: [...requests.values()],
      },
      {
        name: "offstage_http_viewers",
        type: "gauge",
        help: "Streams and terminals that are open.",
        samples: [...viewers].map(([kind, value]) => ({ labels: { kind }, value })),
      },
      {
        name: "offstage_http_failed_logins_total",
        type: "counter",
        help: "Requests without a valid token.",
        samples: [{ value: failedLogins }],
      },
    ],
  };
}

/** Adds `GET /metrics`, for the admin. */
export function metricsRoute(app: App, offstage: Offstage, metrics: Metrics): void {
  app.get("/metrics", async (c) => {
    onlyAdmin(c.get("caller"));
    const families = [...statsFamilies(offstage.stats()), ...metrics.families(), await lagFamily()];
    return c.text(exposition(families), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  });
}

/** The numbers of an instance. */
export function statsFamilies({ sessions, ends, durations, outputBytes, droppedBytes }: Stats): readonly Family[] {
  return [
    {
      name: "offstage_sessions",
      type: "gauge",
      help: "Sessions there are.",
      samples: Object.entries(sessions).map(([state, value]) => ({ labels: { state }, value })),
    },
    {
      name: "offstage_commands_ended_total",
      type: "counter",
      help: "Commands that have ended, by how and why.",
      samples: ends.map(({ status, reason, count }) => ({ labels: { status, reason }, value: count })),
    },
    {
      name: "offstage_command_duration_seconds",
      type: "histogram",
      help: "How long commands took.",
      samples: durationSamples(durations),
    },
    {
      name: "offstage_output_bytes_total",
      type: "counter",
      help: "Bytes that commands have printed.",
      samples: [{ value: outputBytes }],
    },
    {
      name: "offstage_output_dropped_bytes_total",
      type: "counter",
      help: "Printed bytes that were too many to hold.",
      samples: [{ value: droppedBytes }],
    },
  ];
}

function durationSamples({ counts, over, totalMs }: Stats["durations"]): readonly Sample[] {
  let sum = 0;
  const buckets = DURATION_BOUNDS_MS.map((bound, index) => {
    sum += counts[index] ?? 0;
    return { suffix: "_bucket", labels: { le: `${bound / 1_000}` }, value: sum };
  });
  return [
    ...buckets,
    { suffix: "_bucket", labels: { le: "+Inf" }, value: sum + over },
    { suffix: "_sum", value: totalMs / 1_000 },
    { suffix: "_count", value: sum + over },
  ];
}

/** How long a task that is due has to wait for its turn: measured when asked for, so that it costs nothing otherwise. */
async function lagFamily(): Promise<Family> {
  const begin = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 0));
  const seconds = (performance.now() - begin) / 1_000;
  const help = "How long a timer of 0 s took just now.";
  return { name: "offstage_event_loop_lag_seconds", type: "gauge", help, samples: [{ value: seconds }] };
}
