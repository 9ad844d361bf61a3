/**
 * Who may use a fleet: credentials of NATS, permissions on subjects, scopes of nodes.
 *
 * @module
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { nkeys } from "@nats-io/transport-node";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { nats, type NatsConnection, serveNode } from "../../adapters/hosts/nats.ts";
import { createOffstage } from "../../adapters/auto.ts";
import { OffstageError } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { eventually, runToEnd } from "./agent.ts";
import { offstage as cli } from "./cli.ts";
import { freshFolder } from "./machine.ts";
import { natsServer, openLine, openNatsServer } from "./nats_server.ts";

const options = { skip: natsServer };
const decoder = new TextDecoder();

/** The identity of somebody, and its text. */
interface Identity {
  readonly seed: string;
  readonly name: string;
  sign(claims: object): string;
}

function identity(make: () => nkeys.KeyPair): Identity {
  const pair = make();
  const part = (value: object): string =>
    btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return {
    seed: decoder.decode(pair.getSeed()),
    name: pair.getPublicKey(),
    sign: (claims) => {
      const text = `${part({ typ: "JWT", alg: "ed25519-nkey" })}.${
        part({ ...claims, iss: pair.getPublicKey(), iat: 1 })
      }`;
      const signature = String.fromCharCode(...pair.sign(new TextEncoder().encode(text)));
      return `${text}.${btoa(signature).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
    },
  };
}

/** A server's settings, and what a client of it needs. */
interface Access {
  readonly settings: string;
  readonly right: NatsConnection;
  readonly wrong: NatsConnection;
}

async function byCreds(): Promise<Access> {
  const [operator, account, user, stranger] = [
    identity(nkeys.createOperator),
    identity(nkeys.createAccount),
    identity(nkeys.createUser),
    identity(nkeys.createUser),
  ];
  const limits = { subs: -1, data: -1, payload: -1 };
  const operatorJwt = operator.sign({ sub: operator.name, name: "o", nats: { type: "operator", version: 2 } });
  const accountJwt = operator.sign({
    sub: account.name,
    name: "a",
    nats: {
      type: "account",
      version: 2,
      limits: { ...limits, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 },
    },
  });
  const userJwt = account.sign({ sub: user.name, name: "u", nats: { type: "user", version: 2, ...limits } });
  const credsOf = (seed: string): string =>
    `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n\n` +
    `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`;
  const folder = closing(await freshFolder());
  writeFileSync(`${folder.path}/right.creds`, credsOf(user.seed));
  return {
    settings: `operator: ${operatorJwt}\nresolver: MEMORY\nresolver_preload: { ${account.name}: ${accountJwt} }`,
    right: { credsFile: `${folder.path}/right.creds` },
    wrong: { creds: credsOf(stranger.seed) },
  };
}

async function byNkey(): Promise<Access> {
  const [right, wrong] = [identity(nkeys.createUser), identity(nkeys.createUser)];
  const folder = closing(await freshFolder());
  writeFileSync(`${folder.path}/seed`, `${right.seed}\n`);
  return {
    settings: `authorization { users: [ { nkey: ${right.name} } ] }`,
    right: { nkeyFile: `${folder.path}/seed` },
    wrong: { nkeySeed: wrong.seed },
  };
}

const ACCESSES: Readonly<Record<string, () => Promise<Access>>> = {
  "user and password": () =>
    Promise.resolve({
      settings: 'authorization { user: me, password: "se:cret@1" }',
      right: { user: "me", password: "se:cret@1" },
      wrong: { user: "me", password: "other" },
    }),
  "a token": () =>
    Promise.resolve({ settings: "authorization { token: open-sesame }", right: { token: "open-sesame" }, wrong: {} }),
  "an NKey": byNkey,
  "credentials of an account": byCreds,
};

for (const [what, make] of Object.entries(ACCESSES)) {
  test(`both sides are let in by ${what}, and refused with the wrong ones`, options, async () => {
    const { settings, right, wrong } = await make();
    const { url } = closing(await openNatsServer(settings));
    closing(await serveNode({ url, ...right, id: "builder-1" }));
    const offstage = createOffstage({ nodes: nats({ url, ...right }) });
    closing({ [Symbol.asyncDispose]: () => offstage.close() });
    const { details } = await runToEnd(offstage.agent("tester"), { command: "echo in", host: "node" });
    assertEquals(details.output, "in\n");
    const refused = await assertRejects(
      () => serveNode({ url, ...wrong, id: "builder-2" }),
      OffstageError,
      "credentials",
    );
    assertEquals(refused.code, "refused");
    await assertRejects(() => nats({ url, ...wrong }).list(), OffstageError, "credentials");
  });
}

test("user and password may stand in the address, and are in no message", options, async () => {
  const { url } = closing(await openNatsServer('authorization { user: me, password: "p@ss" }'));
  const withLogin = (password: string): string => url.replace("nats://", `nats://me:${password}@`);
  closing(await serveNode({ url: withLogin("p%40ss"), id: "builder-1" }));
  const error = await assertRejects(() => nats({ url: withLogin("wr0ng") }).list(), OffstageError);
  assert(!error.message.includes("wr0ng"), error.message);
});

test(
  "offstage node: a server that refuses, and one that is not asked twice with a password on the command line",
  options,
  async () => {
    const { url } = closing(await openNatsServer("authorization { user: me, password: secret }"));
    const { code, stderr } = await cli(["node", "--id", "builder-1", "--nats", url], {
      env: { OFFSTAGE_NATS_USER: "me", OFFSTAGE_NATS_PASSWORD: "wrong" },
    });
    assertEquals(code, 125);
    assertStringIncludes(stderr, "does not take these credentials");
    assertStringIncludes((await cli(["node", "--id", "no id"])).stderr, "id: must be letters");
  },
);

test("with the permissions of the manual a gateway and a node work, and cannot be each other", options, async () => {
  const { url } = closing(
    await openNatsServer(`authorization { users: [
      { user: gateway, password: g, permissions: {
        publish: ["offstage.v1.find", "offstage.v1.node.>"],
        subscribe: ["offstage.v1.from.>", "offstage.v1.inbox.>"] } }
      { user: builder-1, password: b, permissions: {
        publish: ["offstage.v1.from.builder-1.>", "offstage.v1.inbox.>", "offstage.v1.node.builder-1.hello"],
        subscribe: ["offstage.v1.find", "offstage.v1.node.builder-1.>", "offstage.v1.from.builder-1.beat", "offstage.v1.inbox.builder-1.>"] } }
    ] }`),
  );
  const trouble: string[] = [];
  const onTrouble = (error: OffstageError): void => void trouble.push(error.message);
  closing(await serveNode({ url, user: "builder-1", password: "b", id: "builder-1", onTrouble }));
  const offstage = createOffstage({ nodes: nats({ url, user: "gateway", password: "g" }) });
  closing({ [Symbol.asyncDispose]: () => offstage.close() });
  const { details } = await runToEnd(offstage.agent("tester"), {
    command: "cat",
    host: "node",
    stdin: "closed",
    pty: false,
  });
  assertEquals(details.status, "completed");
  assertEquals(trouble, []);
  const posing = await serveNode({ url, user: "builder-1", password: "b", id: "builder-2", onTrouble }).catch((e) => e);
  if (!(posing instanceof OffstageError)) closing(posing);
  await eventually(() => posing instanceof OffstageError || trouble.length > 0, "a node of another name is refused");
  assertEquals((await offstage.nodes()).map(({ id }) => id), ["builder-1"]);
  const poser = nats({ url, user: "builder-1", password: "b" });
  closing({ [Symbol.asyncDispose]: () => poser.close() });
  await assertRejects(
    async () => (await poser.choose("builder-1", "tester")).spawner.place?.hasProgram("sh"),
    OffstageError,
  );
});

test("H5 a node runs commands of its scopes only, whatever a gateway thinks", options, async () => {
  const { url } = closing(await openNatsServer());
  closing(await serveNode({ url, id: "builder-1", scopes: ["one", "two"] }));
  const directory = nats({ url });
  closing({ [Symbol.asyncDispose]: () => directory.close() });
  assertEquals((await directory.list("one")).length, 1);
  assertEquals(await directory.list("three"), []);
  assertEquals((await directory.list()).length, 1);
  const refused = await assertRejects(() => directory.choose("builder-1", "three"), OffstageError, "three");
  assertEquals(refused.code, "refused");
  const nowhere = await assertRejects(() => directory.choose("any", "three"), OffstageError);
  assertEquals(nowhere.problems, [{ key: "node", message: "There is no node to run on: none is there" }]);
  const { spawner } = await directory.choose("any", "one");
  const spec = { argv: ["true"], cwd: "/", env: {}, stdin: "closed", sessionId: "s" } as const;
  const sink = { chunk: (): void => {}, end: (): void => {} };
  const there = await assertRejects(
    () => spawner.spawn({ ...spec, argv: ["true"], scope: "three" }, sink),
    OffstageError,
    'it runs nothing for the scope "three"',
  );
  assertEquals(there.code, "refused");
  assertEquals(await (await spawner.spawn({ ...spec, argv: ["true"], scope: "two" }, sink)).exited, { code: 0 });
});

test("a credentials file that is not there for a moment, or is none, is read again", options, async () => {
  const { settings, right } = await byCreds();
  const server = closing(await openNatsServer(settings));
  const line = closing(await openLine(server.port));
  const path = right.credsFile ?? "";
  const whole = readFileSync(path);
  closing(await serveNode({ url: line.url, ...right, id: "builder-1" }));
  const offstage = createOffstage({ nodes: nats({ url: line.url, ...right }), tools: { exec: { host: "node" } } });
  const { agent } = closing({ agent: offstage.agent("tester"), [Symbol.asyncDispose]: () => offstage.close() });
  assertEquals((await runToEnd(agent, { command: "echo in" })).details.output, "in\n");
  for (
    const spoil of [() => rmSync(path), () => writeFileSync(path, ""), () => writeFileSync(path, whole.subarray(0, 99))]
  ) {
    line.cut();
    spoil();
    line.mend();
    await sleep(1_500); // so that it is tried some times
    writeFileSync(path, whole);
    const isIn = async (): Promise<boolean> => (await agent.exec({ command: "true" })).isError !== true;
    await eventually(isIn, "it is in again");
  }
});
