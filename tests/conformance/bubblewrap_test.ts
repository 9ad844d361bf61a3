/**
 * R15, H6: what a sandboxed command cannot do, each time by trying it; and that the same succeeds where it is allowed.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import process from "node:process";
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import { closing, test } from "../closing.ts";
import { background, eventually, pollUntil, processesWith, processState, runToEnd, uniqueSleep } from "./agent.ts";
import { needs, openTestBench, terminal, thisRuntime } from "./machine.ts";
import { openScene, sandbox, SECRET } from "./sandbox.ts";

const perl = sandbox || await needs("perl");

test("R15 H6 a command runs in the workspace, in namespaces of its own, and the answer names the host", {
  skip: sandbox,
}, async () => {
  const { agent, workspace } = await openScene();
  const { details } = await runToEnd(agent, {
    command: "pwd; for n in pid net ipc uts user mnt; do readlink /proc/self/ns/$n; done",
  });
  const [cwd, ...namespaces] = details.output.trimEnd().split("\n");
  assertEquals([cwd, details.host, details.cwd], [workspace, "sandbox", workspace]);
  assertEquals(namespaces.length, 6);
  for (const name of namespaces) assertNotEquals(name, readlinkSync(`/proc/self/ns/${name.split(":", 1)[0]}`));
});

test("R15 nothing outside the workspace can be read, but for the system's programs", { skip: sandbox }, async () => {
  const { print, outside } = await openScene();
  const paths = [
    `${outside}/secret`,
    "/etc/shadow",
    "/etc/ssl/private",
    "/root",
    "/home",
    "/var/log",
    "/boot",
    "/sys",
    "/run/systemd",
  ];
  for (const path of paths.filter(existsSync)) assertMatch(await print(`ls -d ${path}`), /No such file/, path);
  assertEquals(await print("ls -A /tmp /run"), "/run:\n\n/tmp:\n");
  assertMatch(await print("command -v ls"), /bin\/ls/);
});

test("R15 nothing outside the workspace can be written, and what is written to /tmp is the command's own", {
  skip: sandbox,
}, async () => {
  const { print, outside, workspace } = await openScene();
  const name = `offstage-${process.pid}-${Date.now()}`;
  const files = [`${outside}/${name}`, `/usr/${name}`, `/usr/bin/${name}`, `/etc/passwd`];
  for (const file of files) assertMatch(await print(`echo x >>${file}`), /No such|Read-only|denied/, file);
  await print(`echo x >/tmp/${name}; echo x >/var/tmp/${name}; mkdir /${name}; echo kept >here`);
  for (const path of [...files.slice(0, -1), `/tmp/${name}`, `/var/tmp/${name}`, `/${name}`]) {
    assert(!existsSync(path), path);
  }
  assertEquals(await print(`ls -A /tmp`), "");
  assertEquals(readFileSync(`${workspace}/here`, "utf8"), "kept\n");
});

test(
  "R15 the kernel's settings cannot be changed, by root either, nor anything mounted",
  { skip: sandbox },
  async () => {
    const { print } = await openScene();
    // Each is written to what it is: harmless where it succeeds
    for (const name of ["kernel/core_pattern", "kernel/printk", "vm/swappiness", "fs/file-max"]) {
      const file = `/proc/sys/${name}`;
      if (!existsSync(file)) continue;
      assertMatch(await print(`v=$(cat ${file}); echo "$v" >${file}`), /Read-only|denied/, file);
    }
    assertMatch(await print("echo h >/proc/sysrq-trigger"), /Read-only|denied|No such/);
    assertMatch(
      await print("mount -t tmpfs none /usr; umount /proc; mount -o remount,rw /usr"),
      /(denied|must be|permitted)[^]*(denied|must be|permitted)/,
    );
    assertMatch(await print("grep ^CapEff /proc/self/status"), /\t0{16}$/m);
  },
);

test(
  "R15 a command can get no privileges in a user namespace of its own",
  { skip: sandbox || await needs("unshare") },
  async () => {
    const { print } = await openScene();
    assertMatch(await print("unshare -Ur true || echo refused"), /refused/);
  },
);

test("R15 no process of the host can be seen or signalled", { skip: sandbox }, async () => {
  const { print } = await openScene();
  const command = uniqueSleep();
  const host = closing(openTestBench((await thisRuntime()).spawner, "pipes"));
  const { child: { pid = 0 } } = await host.sh(`exec ${command}`);
  await eventually(() => processesWith(command).length === 1, "the host's process runs");
  assertEquals(await print(`cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '${command.slice(0, -3)}[0-9]'`), "0\n");
  assertMatch(await print(`kill -9 ${pid} ${process.pid}`), /No such process[^]*No such process/);
  assertMatch(await print("kill -9 -1; echo survived"), /survived\n$/);
  assertEquals(processState(pid), "S");
});

test(
  "R15 no service on the host's loopback can be reached, unless the network is shared",
  { skip: sandbox },
  async () => {
    const server = createServer((socket) => void socket.end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing({ [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())) });
    const address = server.address();
    assert(typeof address === "object" && address !== null);
    const command = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${address.port} && cat <&3'`;
    assertMatch(await (await openScene()).print(command), /refused|unreachable/);
    assertEquals(await (await openScene({ network: true })).print(command), "hello");
  },
);

test("R15 links in the workspace lead nowhere, whoever has made them", { skip: sandbox }, async () => {
  const { print, outside, workspace } = await openScene();
  symlinkSync(outside, `${workspace}/ours`);
  symlinkSync("/", `${workspace}/root`);
  const paths = [
    "ours/secret",
    `root${outside}/secret`,
    "theirs/secret",
    "up/outside/secret",
    "/proc/1/root/../secret",
    `/proc/1/cwd/../outside/secret`,
  ];
  const tried = await print(
    `ln -s ${outside} theirs; ln -s .. up; for path in ${paths.join(" ")}; do cat $path; done 2>&1`,
  );
  assertEquals(tried.match(/No such file|denied/g)?.length, paths.length, tried);
  await print(`echo x >ours/new; echo x >theirs/new; mv ours/secret . ; ln ours/secret hard`);
  assert(!existsSync(`${outside}/new`) && !existsSync(`${workspace}/hard`));
  assertEquals(readFileSync(`${outside}/secret`, "utf8"), SECRET);
});

test(
  "H6 a workdir outside the workspace is refused before anything starts, whatever leads there",
  { skip: sandbox },
  async () => {
    const asked: string[] = [];
    const { agent, outside, workspace } = await openScene({}, {}, {
      authorize: ({ cwd }) => {
        asked.push(cwd);
        return { allow: true };
      },
    });
    await mkdir(`${workspace}/sub`);
    symlinkSync(outside, `${workspace}/out`);
    symlinkSync(`${outside}/none`, `${workspace}/nowhere`);
    for (
      const workdir of [
        "..",
        "../outside",
        outside,
        "/",
        "/usr",
        "/tmp",
        "~",
        "out",
        "out/none",
        "out/..",
        "nowhere",
        "sub/../..",
        "../work2",
      ]
    ) {
      const { details, text } = await agent.exec({ command: "touch ran", workdir });
      assertEquals([details.status, "reason" in details && details.reason], ["failed", "refused"], workdir);
      assertMatch(text, /not in the workspace/);
    }
    assertEquals(asked, []);
    assert(!existsSync(`${outside}/ran`) && !existsSync(`${workspace}/ran`));
    const missing = await agent.exec({ command: "pwd", workdir: "none" });
    assertStringIncludes(missing.text, "does not exist");
    for (const [workdir, cwd] of [["sub", "/sub"], ["sub/..", ""], ["../work/sub", "/sub"]]) {
      assertEquals(
        (await runToEnd(agent, { command: "pwd -P", workdir: workdir ?? "" })).details.output,
        `${workspace}${cwd}\n`,
      );
    }
  },
);

test("H6 a directory that is swapped for a link after it was approved leads nowhere", { skip: sandbox }, async () => {
  const { agent, outside, workspace } = await openScene({}, {}, {
    authorize: ({ cwd }) => {
      rmdirSync(cwd);
      symlinkSync(outside, cwd);
      return { allow: true };
    },
  });
  await mkdir(`${workspace}/late`);
  const { details, text } = await agent.exec({ command: "cat secret", workdir: "late" });
  assertEquals("reason" in details && details.reason, "refused");
  assert(existsSync(`${workspace}/late/secret`));
  assert(!text.includes(SECRET), text);
});

test("H6 nothing of the host's environment is there, not in that of bwrap either", { skip: sandbox }, async () => {
  process.env["OFFSTAGE_TEST_SECRET"] = SECRET;
  try {
    const { print } = await openScene();
    const seen = await print("env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'");
    assert(!seen.includes(SECRET), seen);
    assertMatch(seen, /^HOME=\/tmp$/m);
  } finally {
    delete process.env["OFFSTAGE_TEST_SECRET"];
  }
});

test("H6 the caller's variables act in the sandbox, and on nothing that runs outside", { skip: sandbox }, async () => {
  const { print, outside, workspace } = await openScene();
  // The loader of every program that is started with it writes what it does to a file of that name
  const traced = { LD_DEBUG: "libs", LD_DEBUG_OUTPUT: `${outside}/trace` };
  writeFileSync(`${workspace}/start.sh`, `echo started; touch ${outside}/started`);
  const script = { BASH_ENV: `${workspace}/start.sh`, ENV: `${workspace}/start.sh` };
  const isTraced = (): boolean => readdirSync(outside).some((name) => name.startsWith("trace"));
  for (const pty of [false, true]) {
    const printed = await print({
      command: "bash -c 'echo $LD_DEBUG in $HOME'",
      env: { ...traced, ...script, HOME: "/x" },
      pty,
    });
    assertMatch(printed, /started[^]*libs in \/x/);
    assert(!isTraced() && !existsSync(`${outside}/started`));
  }
  const host = closing(openTestBench((await thisRuntime()).spawner, "pipes"));
  await (await host.start(["true"], { env: traced })).finish();
  assert(isTraced(), "the same variables do act on a program outside");
});

test("H6 no program that a command may have put on the host's PATH is run outside", {
  skip: sandbox || terminal,
}, async () => {
  const { agent, print, outside, workspace } = await openScene({}, {}, {
    elevated: { enabled: true, allowed: () => true },
  });
  await background(agent, { command: "cat", pty: true, elevated: true }); // on some runtimes it takes bash to close that
  const { PATH = "" } = process.env;
  for (const name of ["bwrap", "bash", "sh", "env"]) {
    writeFileSync(`${workspace}/${name}`, `#!/bin/sh\ntouch ${outside}/${name}\n`, { mode: 0o755 });
  }
  symlinkSync(workspace, `${outside}/bin`);
  process.env["PATH"] = `${workspace}:${outside}/bin:${PATH}`;
  try {
    for (const pty of [false, true]) {
      const printed = await print({ command: "echo fine", pty, env: { A: "b" } });
      assertEquals(printed.trim(), "fine");
    }
  } finally {
    process.env["PATH"] = PATH;
  }
  assertEquals(readdirSync(outside).toSorted(), ["bin", "secret"]);
});

test("E3 every value arrives as it was given", { skip: sandbox }, async () => {
  const { print } = await openScene();
  const env = {
    A: "two  words\n$HOME `id` \"q\" 'q' \\",
    "a.b": "dots",
    "-n": "dash",
    EMPTY: "",
    LANG: "C",
    OFFSTAGE_CARRIED_1: "mine",
  };
  const printed = await print({ command: "env -0 | tr '\\0' '\\n'", env });
  for (const [name, value] of Object.entries(env)) assertStringIncludes(`\n${printed}`, `\n${name}=${value}\n`);
  assertEquals(printed.match(/OFFSTAGE_CARRIED/g)?.length, 1);
});

/** Types a command into every descriptor there is: as TIOCSTI does into a terminal, and into the far side of one. */
function typesEverywhere(file: string): string {
  return `perl -e 'my $n = 0; open(T, "+<", "/dev/tty"); for my $fd (0..255) { open(my $f, "+<&=", $fd) or next; ` +
    `for my $c (split //, "touch ${file}\\n") { $n++ if ioctl($f, 0x5412, $c) } syswrite($f, "touch ${file}\\n") if $fd > 2; } print "typed $n\\n"'`;
}

test("R15 TIOCSTI: without a terminal there is none to type into, though others are open outside", {
  skip: perl || terminal,
}, async () => {
  const { agent, print, outside } = await openScene({}, {}, { elevated: { enabled: true, allowed: () => true } });
  const shell = await background(agent, { command: "exec sh", pty: true, elevated: true });
  assertEquals(await print(typesEverywhere(`${outside}/typed`)), "typed 0\n");
  await agent.process({ action: "write", sessionId: shell.id, data: "echo still; exit\r" });
  await pollUntil(agent, shell.id, "still");
  assert(!existsSync(`${outside}/typed`));
});

test("R15 TIOCSTI: in a terminal what is typed reaches the sandbox alone", { skip: perl || terminal }, async () => {
  const { agent, print, outside } = await openScene({}, {}, { elevated: { enabled: true, allowed: () => true } });
  const shell = await background(agent, { command: "exec sh", pty: true, elevated: true });
  assertMatch(await print({ command: typesEverywhere(`${outside}/typed`), pty: true }), /typed \d+/);
  await agent.process({ action: "write", sessionId: shell.id, data: "echo still; exit\r" });
  const seen = await pollUntil(agent, shell.id, "still");
  assert(!seen.includes("touch") && !existsSync(`${outside}/typed`), seen);
});
