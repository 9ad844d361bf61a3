/**
 * A fleet behind every verb that runs commands: exec, serve, mcp, doctor.
 *
 * @module
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Client, createClient } from "../../adapters/client.ts";
import { serveNode } from "../../adapters/hosts/nats.ts";
import { closing, test } from "../closing.ts";
import { eventually } from "./agent.ts";
import { offstage } from "./cli.ts";
import { natsServer, openNatsServer } from "./nats_server.ts";
import { serveProgram } from "./serve_program.ts";

const PASSWORD = "a-password-of-nats";
const LOGIN = { user: "fleet", password: PASSWORD };

/** A NATS server that wants a password, and two nodes; what a gateway's environment says of it. */
async function openFleet(): Promise<Readonly<Record<string, string>>> {
  const server = closing(await openNatsServer(`authorization { user: fleet, password: ${PASSWORD} }`));
  const { url } = server;
  closing(await serveNode({ url, ...LOGIN, id: "big", labels: { gpu: "", arch: "arm" }, cwd: "/usr" }));
  closing(await serveNode({ url, ...LOGIN, id: "secret", scopes: ["two"] }));
  return { OFFSTAGE_NATS_URL: url, OFFSTAGE_NATS_USER: LOGIN.user, OFFSTAGE_NATS_PASSWORD: PASSWORD };
}

test("offstage exec runs on the node of a fleet, gives it stdin, prints its output and exits with its code", {
  skip: natsServer,
}, async () => {
  const env = await openFleet();
  const command = `pwd; cat; env | grep -c "$SECRET"; exit 4`.replace("$SECRET", PASSWORD);
  const run = await offstage(["exec", "--node", "any:arch=arm", command], { env, input: "typed\n" });
  assertEquals([run.stdout, run.stderr, run.code], ["/usr\ntyped\n0\n", "", 4]);
  const other = await offstage(["exec", "--host", "node", "--node", "secret", "--json", "true"], { env });
  assertEquals([other.code, JSON.parse(other.stdout).reason], [125, "refused"]);
  const { OFFSTAGE_NATS_URL: url = "", ...login } = env;
  const here = await offstage(["exec", "--nats", url, "env | grep -c NATS"], { env: login });
  assertEquals([here.stdout, here.code], ["0\n", 1], "a command of this machine is not given the password");
});

test("offstage exec passes on a quick command of a node, whether its start or its end is heard of first", {
  skip: natsServer,
}, async () => {
  const env = await openFleet();
  for (let round = 0; round < 6; round++) {
    const quick = await offstage(["exec", "--node", "big", "echo quick; exit 3"], { env });
    assertEquals([quick.stdout, quick.stderr, quick.code], ["quick\n", "", 3]);
  }
  const quick = await offstage(["exec", "--json", "--node", "big", "echo quick"], { env });
  assertEquals([JSON.parse(quick.stdout).output, quick.code], ["quick\n", 0]);
});

test(
  "offstage exec fails in words when nobody serves NATS there, or the password is wrong",
  { skip: natsServer },
  async () => {
    const env = await openFleet();
    const wrong = await offstage(["exec", "--node", "big", "true"], {
      env: { ...env, OFFSTAGE_NATS_PASSWORD: "wrong" },
    });
    assertEquals([wrong.code, wrong.stdout], [125, ""]);
    assertMatch(wrong.stderr, /^offstage: .*(?:authorization|credentials|password|refuse)/i);
    const nobody = await offstage(["exec", "--nats", "127.0.0.1:1", "--node", "big", "true"]);
    assertEquals([nobody.code, nobody.stdout], [125, ""]);
    assertStringIncludes(nobody.stderr, "127.0.0.1:1");
    const bad = await offstage(["exec", "--nats", "nats://", "--node", "big", "true"]);
    assertEquals([bad.code, bad.stdout], [125, ""]);
    assertStringIncludes(bad.stderr, "url");
  },
);

test("offstage serve runs commands on the fleet, lists it to each scope its own", {
  skip: natsServer,
}, async () => {
  const env = await openFleet();
  const url = env["OFFSTAGE_NATS_URL"] ?? "";
  closing(await serveNode({ url, ...LOGIN, id: "extra" }));
  const tokens = { one: "token-of-scope-one", two: "token-of-scope-two" };
  const server = serveProgram([], { ...env, OFFSTAGE_TOKENS: `one:${tokens.one},two:${tokens.two}` });
  closing({ [Symbol.asyncDispose]: async () => void (server.kill("SIGTERM"), await server.ended) });
  const served = await server.url;
  const [one, two] = [tokens.one, tokens.two].map((token) => createClient({ url: served, token }));
  const idsOf = async (client: Client | undefined): Promise<string> =>
    (await client?.nodes() ?? []).map(({ id }) => id).toSorted().join(" ");
  await eventually(async () => await idsOf(two) === "big extra secret", "all nodes are found");
  assertEquals(await idsOf(one), "big extra");
  const answer = await two?.exec({ command: "echo hi", host: "node", node: "secret" });
  assertEquals(answer !== undefined && "node" in answer.details ? answer.details.node : undefined, "secret");
  const { stdout } = await offstage(["nodes", "--url", served, "--token", tokens.one]);
  assertMatch(stdout, /^ID .*\nbig +online +0 +\S+ \S+ .* gpu arch=arm\n/);
});

test("offstage nodes lists a fleet without a server, and asks a server that is named", {
  skip: natsServer,
}, async () => {
  const env = await openFleet();
  const { OFFSTAGE_NATS_URL: url = "", ...login } = env;
  for (const listed of [await offstage(["nodes"], { env }), await offstage(["nodes", "--nats", url], { env: login })]) {
    assertMatch(listed.stdout, /^ID .*\nbig +online +0 .* gpu arch=arm\nsecret +online +0 /);
    assertEquals([listed.stderr, listed.code], ["", 0]);
  }
  const nobody = await offstage(["nodes", "--url", "http://127.0.0.1:1", "--token", "t"], { env });
  assertEquals([nobody.stdout, nobody.code], ["", 125]);
  const noFleet = await offstage(["nodes", "--nats", "127.0.0.1:1"]);
  assertEquals([noFleet.stdout, noFleet.code], ["", 125]);
  assertStringIncludes(noFleet.stderr, "127.0.0.1:1");
});

test(
  "offstage doctor tells the nodes of a fleet, and that there is nobody where it should be",
  { skip: natsServer },
  async () => {
    const env = await openFleet();
    const { stdout, code } = await offstage(["doctor"], { env });
    assertEquals(code, 0);
    assertMatch(stdout, /^ {2}nodes +big \(gpu arch=arm\), secret$/m);
    const nobody = await offstage(["doctor", "--nats", "127.0.0.1:1"]);
    assertEquals(nobody.code, 1);
    assertMatch(nobody.stdout, /^! nodes +Cannot list the nodes: .*127\.0\.0\.1:1/m);
  },
);
