/**
 * Which optional packages are there, and in which versions.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { VERSION } from "../../version.ts";
import { loadNats } from "../../hosts/nats/wire.ts";
import { loadAssets } from "../../http/page_assets.ts";
import { loadStdioSdk } from "../../mcp/sdk.ts";
import { loadServer } from "../server_parts.ts";
import { runtimeName } from "../runtime_name.ts";
import { type Finding, missing, ok, problem } from "./finding.ts";

/** The oldest versions that all of this works on. */
const OLDEST: Readonly<Record<string, readonly [major: number, minor: number]>> = {
  node: [20, 19],
  deno: [2, 0],
  bun: [1, 4],
};

/** The runtime, and whether it is new enough. */
export function lookAtRuntime(name: string = runtimeName()): Finding {
  const [, runtime = "", major, minor] = /^(\w+) (\d+)\.(\d+)/.exec(name) ?? [];
  const [least, lesser] = OLDEST[runtime] ?? [0, 0];
  const isOld = Number(major) < least || (Number(major) === least && Number(minor) < lesser);
  const text = `${name}, offstage ${VERSION}`;
  return isOld ? problem("runtime", text, `Too old: it takes ${runtime} ${least}.${lesser}`) : ok("runtime", text);
}

/** What there is of the front ends that take packages. */
export async function lookAtFrontEnds(): Promise<readonly Finding[]> {
  return [
    await tried("serve", loadServer, ["hono", "@hono/node-server", "ws"]),
    await lookAtPage(),
    await tried("mcp", loadStdioSdk, ["@modelcontextprotocol/server"]),
    await tried("nats", loadNats, ["@nats-io/transport-node"]),
  ];
}

async function tried(topic: string, load: () => Promise<unknown>, names: readonly string[]): Promise<Finding> {
  try {
    await load();
    return ok(topic, `yes, by ${withVersions(names).join(", ")}`);
  } catch (error) {
    return missing(topic, `no: ${(error as Error).message}`);
  }
}

async function lookAtPage(): Promise<Finding> {
  const names = ["@xterm/xterm", "@xterm/addon-fit", "@xterm/addon-search"];
  const lacking = [...new Set((await loadAssets()).missing.values())];
  if (lacking.length === 0) return ok("page", `with terminals, by ${withVersions(names).join(", ")}`);
  return missing("page", `without terminals: ${lacking.join(", ")} missing`, `npm install ${lacking.join(" ")}`);
}

/** Those packages that are installed, each with its version. */
export function withVersions(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const version = versionOf(name);
    return version === undefined ? [] : [`${name} ${version}`];
  });
}

/** Version of a package in the `node_modules` of this one or of the folders above. */
function versionOf(name: string): string | undefined {
  for (let folder = new URL(".", import.meta.url); folder.protocol === "file:"; folder = new URL("..", folder)) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, folder), "utf8"));
      return (manifest as { readonly version: string }).version;
    } catch {
      // Not there, so in a folder above, if there is one
    }
    if (folder.pathname === "/" || /^\/\w:\/$/.test(folder.pathname)) break;
  }
  return undefined;
}
