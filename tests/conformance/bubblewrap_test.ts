/**
 * R15, H6: what a sandboxed command cannot do, each time by trying it; and that the same succeeds where it is allowed.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import process from "node:process";
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import type { ExecParams, OffstageConfig } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import {
  background,
  type Bench,
  eventually,
  kill,
  pollUntil,
  processesWith,
  processState,
  runToEnd,
  uniqueSleep,
} from "./agent.ts";
import { needs, openTestBench, proc, terminal, thisRuntime } from "./machine.ts";
import { folderOutside, openSandbox, sandbox } from "./sandbox.ts";

const SECRET = "a secret of the host's";

interface Scene extends Bench {
  /** What commands may use. */
  readonly workspace: string;
  /** A directory beside the workspace, with a file `secret`. */
  readonly outside: string;
  /** What a command prints, however it ends. */
  readonly print: (params: ExecParams | string) => Promise<string>;
}

/** A workspace and, beside it, what nobody in there is to get at. */
async function scene(
  options: Parameters<typeof openSandbox>[1] = {},
  exec: Parameters<typeof openSandbox>[2] = {},
  config: OffstageConfig = {},
): Promise<Scene> {
  const { path } = closing(await folderOutside());
  const [workspace, outside] = [`${path}/work`, `${path}/outside`];
  await Promise.all([workspace, outside].map((folder) => mkdir(folder)));
  writeFileSync(`${outside}/secret`, SECRET);
  const bench = closing(openSandbox(workspace, options, exec, config));
  const print = async (params: ExecParams | string): Promise<string> =>
    (await runToEnd(bench.agent, typeof params === "string" ? { command: params } : params)).details.output;
  return { ...bench, workspace, outside, print };
}

const perl = sandbox || await needs("perl");

test("R15 H6 a command runs in the workspace, in namespaces of its own, and the answer names the host", {
  skip: sandbox,
}, async () => {
  const { agent, workspace } = await scene();
  const { details } = await runToEnd(agent, {
    command: "pwd; for n in pid net ipc uts user mnt; do readlink /proc/self/ns/$n; done",
  });
  const [cwd, ...namespaces] = details.output.trimEnd().split("\n");
  assertEquals([cwd, details.host, details.cwd], [workspace, "sandbox", workspace]);
  assertEquals(namespaces.length, 6);
  for (const name of namespaces) assertNotEquals(name, readlinkSync(`/proc/self/ns/${name.split(":", 1)[0]}`));
});

test("R15 nothing outside the workspace can be read, but for the system's programs", { skip: sandbox }, async () => {
  const { print, outside } = await scene();
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
  const { print, outside, workspace } = await scene();
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
    const { print } = await scene();
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
    const { print } = await scene();
    assertMatch(await print("unshare -Ur true || echo refused"), /refused/);
  },
);

test("R15 no process of the host can be seen or signalled", { skip: sandbox }, async () => {
  const { print } = await scene();
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
    assertMatch(await (await scene()).print(command), /refused|unreachable/);
    assertEquals(await (await scene({ network: true })).print(command), "hello");
  },
);

test("R15 links in the workspace lead nowhere, whoever has made them", { skip: sandbox }, async () => {
  const { print, outside, workspace } = await scene();
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
    const { agent, outside, workspace } = await scene({}, {}, {
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
  let swap = (): void => {};
  const { agent, outside, workspace } = await scene({}, {}, {
    authorize: () => {
      swap();
      return { allow: true };
    },
  });
  swap = () => symlinkSync(outside, `${workspace}/late`);
  const { text } = await agent.exec({ command: "cat secret", workdir: "late/../late" }).catch((error) => ({
    text: String(error),
  }));
  assert(!text.includes(SECRET), text);
});

test("H6 nothing of the host's environment is there, not in that of bwrap either", { skip: sandbox }, async () => {
  process.env["OFFSTAGE_TEST_SECRET"] = SECRET;
  try {
    const { print } = await scene();
    const seen = await print("env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'");
    assert(!seen.includes(SECRET), seen);
    assertMatch(seen, /^HOME=\/tmp$/m);
  } finally {
    delete process.env["OFFSTAGE_TEST_SECRET"];
  }
});

test("H6 the caller's variables act in the sandbox, and on nothing that runs outside", { skip: sandbox }, async () => {
  const { print, outside, workspace } = await scene();
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

test("E3 every value arrives as it was given", { skip: sandbox }, async () => {
  const { print } = await scene();
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
  const { agent, print, outside } = await scene({}, {}, { elevated: { enabled: true, allowed: () => true } });
  const shell = await background(agent, { command: "exec sh", pty: true, elevated: true });
  assertEquals(await print(typesEverywhere(`${outside}/typed`)), "typed 0\n");
  await agent.process({ action: "write", sessionId: shell.id, data: "echo still; exit\r" });
  await pollUntil(agent, shell.id, "still");
  assert(!existsSync(`${outside}/typed`));
});

test("R15 TIOCSTI: in a terminal what is typed reaches the sandbox alone", { skip: perl || terminal }, async () => {
  const { agent, print, outside } = await scene({}, {}, { elevated: { enabled: true, allowed: () => true } });
  const shell = await background(agent, { command: "exec sh", pty: true, elevated: true });
  assertMatch(await print({ command: typesEverywhere(`${outside}/typed`), pty: true }), /typed \d+/);
  await agent.process({ action: "write", sessionId: shell.id, data: "echo still; exit\r" });
  const seen = await pollUntil(agent, shell.id, "still");
  assert(!seen.includes("touch") && !existsSync(`${outside}/typed`), seen);
});

for (
  const { how, pty, skip } of [{ how: "pipes", pty: false, skip: proc }, {
    how: "a terminal",
    pty: true,
    skip: proc || terminal,
  }]
) {
  test(`E34 ${how}: a kill ends everything in the sandbox, what left the group and what ignores SIGTERM too`, {
    skip: sandbox || skip,
  }, async () => {
    const { agent, workspace } = await scene({}, { killGraceMs: 300 });
    const [stray, deaf] = [uniqueSleep(), uniqueSleep()];
    const command =
      `setsid ${stray} & (setsid setsid env -i ${stray} &); trap '' TERM; setsid ${deaf} & sleep 0.1; echo up; ${deaf}; ${deaf}`;
    const { id } = await background(agent, { command, pty });
    await pollUntil(agent, id, "up");
    await eventually(() => processesWith(stray).length === 2 && processesWith(deaf).length === 2, "all of them run");
    const { confirmed, survivors, signal, text } = await kill(agent, id);
    assertEquals([confirmed, survivors, signal], [true, [], "SIGKILL"], text);
    await eventually(
      () =>
        processesWith(workspace).length === 0 && processesWith(stray).length === 0 && processesWith(deaf).length === 0,
      "nothing is left",
    );
  });

  test(`E34 R7 ${how}: a command gets one SIGTERM and time to tidy up, and its exit is told`, {
    skip: sandbox || skip,
  }, async () => {
    const { agent, workspace } = await scene();
    const command =
      "n=0; trap 'n=$((n+1)); echo term' TERM; echo up; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; echo $n >count; exit 4";
    const { id } = await background(agent, { command, pty });
    await pollUntil(agent, id, "up");
    const { exitCode, status } = await kill(agent, id);
    assertEquals([exitCode, status, readFileSync(`${workspace}/count`, "utf8")], [4, "completed", "1\n"]);
  });

  test(
    `E27 ${how}: a command that a signal of ours ends is told to have ended by it`,
    { skip: sandbox || skip },
    async () => {
      const { agent } = await scene();
      const { id } = await background(agent, { command: "echo up; exec sleep 600", pty });
      await pollUntil(agent, id, "up");
      const { signal, status } = await kill(agent, id);
      assertEquals([signal, status], ["SIGTERM", "killed"]);
    },
  );

  test(`${how}: a kill at any moment of the start leaves nothing`, { skip: sandbox || skip }, async () => {
    const { agent, workspace } = await scene({}, { killGraceMs: 1_000 });
    const command = uniqueSleep();
    for (let round = 0; round < 20; round++) {
      const { id } = await background(agent, { command, pty, background: true });
      await new Promise((resolve) => setTimeout(resolve, round));
      const { confirmed, status } = await kill(agent, id);
      assertEquals([confirmed, status], [true, "killed"]);
    }
    await eventually(
      () => processesWith(command).length === 0 && processesWith(workspace).length === 0,
      "nothing is left",
    );
  });

  test(`P30 ${how}: who waits for input in the sandbox is known from outside`, { skip: sandbox || skip }, async () => {
    const { agent } = await scene();
    const { id } = await background(agent, {
      command: "cat >/dev/null; echo end",
      pty,
      background: true,
      stdin: "open",
    });
    const { details } = await agent.process({ action: "poll", sessionId: id, until: "input", timeout: 30_000 });
    assert("evidence" in details);
    assertEquals([details.wokenBy, details.evidence], ["input", "blocked-in-read"]);
  });

  test(`${how}: what a command leaves behind ends with it`, { skip: sandbox || skip }, async () => {
    const { agent } = await scene();
    const left = uniqueSleep();
    const { details } = await runToEnd(agent, {
      command: `trap '' HUP; nohup setsid ${left} >/dev/null 2>&1 & sleep 0.1; echo done`,
      pty,
    });
    assertEquals([details.exitCode, details.survivors], [0, []]);
    await eventually(() => processesWith(left).length === 0, "it has ended");
  });
}

test(
  "a terminal has job control, the keys that interrupt, and a size that changes",
  { skip: sandbox || terminal },
  async () => {
    const { agent } = await scene();
    const { id } = await background(agent, { command: "PS1='ready> ' exec bash --norc -i", pty: true });
    const type = async (data: string, wanted: string | RegExp): Promise<void> => {
      await agent.process({ action: "write", sessionId: id, data });
      await pollUntil(agent, id, wanted);
    };
    await pollUntil(agent, id, "ready> ");
    await type("sleep 600\r", "sleep 600");
    await eventually(async () => {
      await agent.process({ action: "write", sessionId: id, data: "\x1a" });
      const { details } = await agent.process({ action: "poll", sessionId: id, timeout: 1_000 });
      return "output" in details && details.output.includes("Stopped");
    }, "the job is stopped");
    await type("fg; echo code $?\r", "sleep 600");
    await eventually(async () => {
      await agent.process({ action: "write", sessionId: id, data: "\x03" });
      const { details } = await agent.process({ action: "poll", sessionId: id, timeout: 1_000 });
      return "output" in details && details.output.includes("ready> ");
    }, "the job is interrupted");
    await agent.process({ action: "resize", sessionId: id, cols: 77, rows: 22 });
    await type("stty size\r", "22 77");
    await type("trap 'echo caught' INT; echo set\r", "set\n");
    await type("exit 7\r", "exit code 7").catch(() => {});
    const { details } = await agent.process({ action: "poll", sessionId: id, until: "exit", timeout: 30_000 });
    assert("exitCode" in details);
    assertEquals(details.exitCode, 7);
  },
);

test("a command on a read-only workspace cannot write there, and what is bound within has its own rule", {
  skip: sandbox,
}, async () => {
  const { path } = closing(await folderOutside());
  await mkdir(`${path}/cache`);
  const readOnly = closing(
    openSandbox(path, { readOnly: true, extraBinds: [{ path: `${path}/cache`, writable: true }] }),
  );
  const { details } = await runToEnd(readOnly.agent, { command: "touch a; touch cache/b; ls -A . cache" });
  assertMatch(details.output, /touch: .*'a': Read-only[^]*\.:\ncache\n\ncache:\nb\n/);
  const kept = closing(
    openSandbox(path, { extraBinds: [`${path}/cache`, { path: `${path}/cache`, at: "/opt/cache" }] }),
  );
  const other = await runToEnd(kept.agent, { command: "touch a; touch cache/c; ls -A . cache /opt/cache" });
  assertMatch(other.details.output, /Read-only[^]*a\ncache\n\n\/opt\/cache:\nb\n\ncache:\nb\n/);
});

test("a workspace that is a link is seen under both names", { skip: sandbox }, async () => {
  const { path } = closing(await folderOutside());
  await mkdir(`${path}/real/sub`, { recursive: true });
  symlinkSync("real", `${path}/link`);
  const { agent } = closing(openSandbox(`${path}/link`));
  const { details } = await runToEnd(agent, { command: `pwd -P; cd ${path}/link/sub && pwd -P` });
  assertEquals(details.output, `${path}/real\n${path}/real/sub\n`);
  assertEquals(
    (await runToEnd(agent, { command: "pwd -P", workdir: `${path}/real/sub` })).details.output,
    `${path}/real/sub\n`,
  );
  const { details: outside } = await agent.exec({ command: "pwd", workdir: path });
  assertEquals("reason" in outside && outside.reason, "refused");
});

test(
  "a workspace that is not there is said to be missing, and is used once it has been made",
  { skip: sandbox },
  async () => {
    const { path } = closing(await folderOutside());
    const { agent } = closing(openSandbox(`${path}/later`));
    const { details, text } = await agent.exec({ command: "pwd" });
    assertEquals("reason" in details && details.reason, "spawn-error");
    assertStringIncludes(text, `does not exist: ${path}/later`);
    await mkdir(`${path}/later`);
    assertEquals((await runToEnd(agent, { command: "pwd" })).details.output, `${path}/later\n`);
  },
);

test("E25 E37 large commands and large output pass, and the code is the command's", { skip: sandbox }, async () => {
  const { agent } = await scene();
  const { details } = await runToEnd(agent, {
    command: `: ${"x".repeat(1_000_000)}\nseq 1 20000 | tail -n 1; exit 9`,
    env: { BIG: "y".repeat(100_000) },
  });
  assertEquals([details.output, details.exitCode], ["20000\n", 9]);
});

/** A `bwrap` that cannot be used, and what is said about it. */
const BROKEN: readonly (readonly [script: string | undefined, said: RegExp])[] = [
  [undefined, /there is no .*Install bubblewrap/],
  ["echo 'bwrap: No permissions to create new namespace' >&2; exit 1", /No permissions[^]*Allow user namespaces/],
  [
    "echo 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2; exit 1",
    /RTM_NEWADDR[^]*Allow user namespaces/,
  ],
  ["exit 3", /says "exit 3"/],
];

for (const [script, said] of BROKEN) {
  test(
    `without a working bwrap nothing is run, and the answer says why: ${script ?? "none"}`,
    { skip: sandbox },
    async () => {
      const { path } = closing(await folderOutside());
      const program = `${path}/bwrap`;
      if (script !== undefined) writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      for (const pty of [false, true]) {
        const { agent } = closing(openSandbox(path, { program }));
        const { details, text } = await agent.exec({ command: `touch ${path}/ran`, pty });
        assertEquals([details.status, "problems" in details], ["failed", true], text);
        assertMatch(text, said);
        assert(!existsSync(`${path}/ran`));
      }
    },
  );
}

test("a bwrap that is put right is used by the next command, and an older one without --disable-userns too", {
  skip: sandbox,
}, async () => {
  const { path } = closing(await folderOutside());
  const program = `${path}/bwrap`;
  const { agent } = closing(openSandbox(path, { program }));
  assertEquals((await agent.exec({ command: "true" })).details.status, "failed");
  const older =
    `#!/bin/sh\ncase " $* " in *" --disable-userns "*) echo 'bwrap: Unknown option --disable-userns' >&2; exit 1;; esac\nexec bwrap "$@"\n`;
  writeFileSync(program, older, { mode: 0o755 });
  assertEquals((await runToEnd(agent, { command: "echo fine" })).details.output, "fine\n");
});
