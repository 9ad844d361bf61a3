/** H1–H4: which host a command runs on, over the whole truth table. */

import { test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { routeHost } from "../src/exec/route.ts";
import type { ConfiguredHost } from "../src/config.ts";
import type { RouteRequest } from "../src/exec/route.ts";

const PLAIN: RouteRequest = {
  configured: "auto",
  elevated: false,
  sandboxAvailable: false,
  sandboxRequired: false,
  nodesAvailable: false,
  elevatedEnabled: true,
  elevatedAllowed: true,
};

const TARGETS = ["auto", "sandbox", "gateway", "node"] as const;
const BOTH = [false, true] as const;

/** What the rules say, read off one after the other: the host, or `refused`. */
function oracle(request: RouteRequest): string {
  const { configured, requested, node, elevated, sandboxAvailable, sandboxRequired, nodesAvailable } = request;
  // H3
  if (elevated && !(request.elevatedEnabled && request.elevatedAllowed)) return "refused";
  // H2, first bullet
  if (sandboxRequired) {
    if (!sandboxAvailable || elevated || requested === "gateway" || requested === "node") return "refused";
    return node === undefined ? "sandbox" : "refused";
  }
  // H2, second and third
  if (configured === "auto") {
    if (sandboxAvailable && (requested === "gateway" || requested === "node")) return "refused";
  } else if (requested !== undefined && requested !== configured) return "refused";
  // H2, fourth
  let host: ConfiguredHost = requested === undefined ? configured : requested;
  if (host === "sandbox" && !sandboxAvailable) return "refused";
  if (host === "auto") host = sandboxAvailable ? "sandbox" : "gateway";
  // H2, fifth
  if (elevated && host !== "node") host = "gateway";
  // H4, but for which nodes there are
  if (host !== "node") return node === undefined ? host : "refused";
  return nodesAvailable ? `node ${node}` : "refused";
}

function outcome(request: RouteRequest): string {
  const route = routeHost(request);
  if (!route.ok) return "refused";
  return route.host === "node" ? `node ${route.node}` : route.host;
}

function* truthTable(): Iterable<RouteRequest> {
  for (const configured of TARGETS) {
    for (const requested of [undefined, ...TARGETS]) {
      for (const node of [undefined, "a", "any"]) {
        for (const nodesAvailable of BOTH) {
          for (const elevated of BOTH) {
            for (const elevatedEnabled of BOTH) {
              for (const elevatedAllowed of BOTH) {
                for (const sandboxAvailable of BOTH) {
                  for (const sandboxRequired of BOTH) {
                    yield {
                      configured,
                      requested,
                      node,
                      nodesAvailable,
                      elevated,
                      elevatedEnabled,
                      elevatedAllowed,
                      sandboxAvailable,
                      sandboxRequired,
                    };
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}

test("H2 H3 H4 every row of the truth table agrees with the rules", () => {
  let rows = 0;
  for (const request of truthTable()) {
    assertEquals(outcome(request), oracle(request), JSON.stringify(request));
    rows++;
  }
  assertEquals(rows, 4 * 5 * 3 * 2 ** 6);
});

test("H2 nothing but elevation leaves a sandbox that is there, and nothing runs on the host in place of one", () => {
  for (const request of truthTable()) {
    const host = outcome(request);
    if (request.sandboxRequired) assert(host === "sandbox" || host === "refused");
    if ((request.requested ?? request.configured) === "sandbox" && !request.elevated) {
      assert(host === "sandbox" || host === "refused");
    }
  }
});

/** One refusal each: the key it is about and the setting it names. */
const REFUSALS: readonly (readonly [Partial<RouteRequest>, string, string])[] = [
  [{ sandboxRequired: true }, "host", "tools.exec.sandboxRequired"],
  [{ sandboxRequired: true, sandboxAvailable: true, requested: "gateway" }, "host", "tools.exec.sandboxRequired"],
  [{ sandboxRequired: true, sandboxAvailable: true, elevated: true }, "elevated", "tools.exec.sandboxRequired"],
  [{ sandboxAvailable: true, requested: "gateway" }, "host", "tools.exec.host"],
  [{ sandboxAvailable: true, requested: "node", nodesAvailable: true }, "host", "tools.exec.host"],
  [{ configured: "gateway", requested: "sandbox", sandboxAvailable: true }, "host", "tools.exec.host"],
  [{ requested: "sandbox" }, "host", "set sandbox"],
  [{ configured: "sandbox" }, "host", "set sandbox"],
  [{ elevated: true, elevatedEnabled: false }, "elevated", "elevated.enabled"],
  [{ elevated: true, elevatedAllowed: false }, "elevated", "elevated.allowed"],
  [{ requested: "node" }, "node", "set nodes"],
  [{ node: "a", nodesAvailable: true }, "node", 'host: "node"'],
];

test("H2 H3 H4 each refusal names its key and the setting that would allow it", () => {
  for (const [request, key, setting] of REFUSALS) {
    const route = routeHost({ ...PLAIN, ...request });
    assert(!route.ok, JSON.stringify(request));
    assertEquals(route.problems.map((problem) => problem.key), [key], JSON.stringify(request));
    assertStringIncludes(route.problems[0]?.message ?? "", setting);
  }
});

test("H3 every failing gate is named at once", () => {
  const route = routeHost({
    ...PLAIN,
    requested: "sandbox",
    elevated: true,
    elevatedEnabled: false,
    elevatedAllowed: false,
  });
  assert(!route.ok);
  assertEquals(route.problems.map(({ key }) => key), ["elevated", "elevated", "host"]);
});
