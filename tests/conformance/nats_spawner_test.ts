/**
 * Commands on a node of a fleet keep the contract of `offstage/testing` on every runtime, but for what is said here.
 *
 * @module
 */
import { readdirSync } from "node:fs";
import { after, test } from "node:test";
import { nats, serveNode } from "../../adapters/hosts/nats.ts";
import { spawnerCases, type SpawnerCasesOptions } from "../../adapters/testing.ts";
import { skipUnless } from "../skip.ts";
import { natsServer, openNatsServer } from "./nats_server.ts";

const GAPS: NonNullable<SpawnerCasesOptions["gaps"]> = {
  "environment": "a node adds what its machine says of itself",
};

if (natsServer === false) {
  const server = await openNatsServer();
  const node = await serveNode({ url: server.url, id: "builder-1" });
  const directory = nats({ url: server.url });
  after(async () => {
    await directory.close();
    await node.close();
    await server[Symbol.asyncDispose]();
  });
  const cases = await spawnerCases({
    create: async () => (await directory.choose("builder-1", "tester")).spawner,
    cwd: "/",
    gaps: GAPS,
    descriptors: () => readdirSync("/proc/self/fd").length,
  });
  for (const { name, skip, run } of cases) {
    test(`nats, ${name}`, { skip: skip === undefined ? false : skipUnless(false, skip) }, run);
  }
}
