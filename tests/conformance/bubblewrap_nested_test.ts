/**
 * Extra binds in, or out of, what the commands of a sandbox can change: no command moves them, or leads them elsewhere.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createOffstage } from "../../adapters/auto.ts";
import { bubblewrap, type ExtraBind } from "../../adapters/hosts/bubblewrap.ts";
import { closing, test } from "../closing.ts";
import { type Bench, runToEnd } from "./agent.ts";
import { folderOutside, sandbox, SECRET } from "./sandbox.ts";

interface Place extends Bench {
  readonly path: string;
}

/** A sandbox with extra binds, in a folder with a workspace, tools and something secret. */
async function openPlace(bindsIn: (path: string) => readonly (string | ExtraBind)[]): Promise<Place> {
  const { path } = closing(await folderOutside());
  for (const folder of ["work/a/kept", "tools", "secret"]) mkdirSync(`${path}/${folder}`, { recursive: true });
  for (const folder of ["work/a/kept", "tools", "secret"]) writeFileSync(`${path}/${folder}/file`, SECRET);
  const offstage = createOffstage({ sandbox: bubblewrap({ workspace: `${path}/work`, extraBinds: bindsIn(path) }) });
  return closing({ path, offstage, agent: offstage.agent("tester"), [Symbol.asyncDispose]: () => offstage.close() });
}

/** Leads to a directory of the host that the sandbox has one of its own of, from anywhere. */
const leadTo = (target: string, from: string): string => relative(dirname(from), target);

for (
  const { what, bind } of [
    { what: "in the workspace", bind: (path: string) => ({ path: `${path}/work/a/kept`, writable: true }) },
    {
      what: "out of the workspace",
      bind: (path: string) => ({ path: `${path}/work/a/kept`, at: "/opt/kept", writable: true }),
    },
  ]
) {
  test(`R15 what is bound ${what} is not led elsewhere by a command`, { skip: sandbox }, async () => {
    const { agent, path } = await openPlace((path) => [bind(path)]);
    const link = leadTo("/var/tmp", `${path}/work/a/kept`);
    const attack =
      `mv a b && mkdir a && ln -s ${link} a/kept; rmdir a/kept; rm -r a/kept && ln -s ${link} a/kept; ls -d a`;
    assertMatch((await runToEnd(agent, { command: attack, mergeStreams: true })).details.output, /busy[^]*^a$/m);
    const seen = await agent.exec({ command: `cat ${path}/secret/file /opt/kept/*/secret/file; touch ${path}/new` });
    assert(!seen.text.includes(SECRET), seen.text);
    assert(!existsSync(`${path}/new`));
  });

  test(`R15 a link that leads to what is bound ${what} is refused`, { skip: sandbox }, async () => {
    const { agent, path } = await openPlace((path) => [bind(path)]);
    renameSync(`${path}/work/a`, `${path}/work/b`);
    mkdirSync(`${path}/work/a`);
    symlinkSync(leadTo("/var/tmp", `${path}/work/a/kept`), `${path}/work/a/kept`);
    const { details, text } = await agent.exec({ command: "ls" });
    assertEquals("reason" in details && details.reason, "refused");
    assertMatch(text, /a\/kept, which leads to an extra bind, is a link/);
  });
}

test("R15 nothing is made outside for what is bound into the workspace", { skip: sandbox }, async () => {
  const { agent, path } = await openPlace((path) => [{ path: `${path}/tools`, at: `${path}/work/deps/tools` }]);
  const attack = `cat deps/tools/file; rm -r deps; mv deps x; ln -s /oldroot${path}/secret deps`;
  assertMatch(
    (await runToEnd(agent, { command: attack, mergeStreams: true })).details.output,
    new RegExp(`^${SECRET}[^]*busy`),
  );
  assertMatch((await runToEnd(agent, { command: "ls deps" })).details.output, /^tools$/m);
  assertEquals(readdirSync(`${path}/secret`), ["file"]);
});

test("R15 what is bound within something read-only leaves it that, under either name of the workspace", {
  skip: sandbox,
}, async () => {
  const { path } = closing(await folderOutside());
  mkdirSync(`${path}/work/a/b/c`, { recursive: true });
  symlinkSync(`${path}/work`, `${path}/name`);
  const extraBinds = [`${path}/name/a`, { path: `${path}/name/a/b/c`, writable: true }];
  const offstage = createOffstage({ sandbox: bubblewrap({ workspace: `${path}/name`, extraBinds }) });
  const { agent } = closing({ agent: offstage.agent("tester"), [Symbol.asyncDispose]: () => offstage.close() });
  await runToEnd(agent, { command: "touch x a/x a/b/x a/b/c/x" });
  assertEquals(["x", "a/x", "a/b/x", "a/b/c/x"].map((name) => existsSync(`${path}/work/${name}`)), [
    ...[true, false, false, true],
  ]);
});
