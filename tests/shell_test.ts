/** E1, E20 and E37: the choice of a shell, and how a command's text is handed over. */

import { test } from "node:test";
import { assertEquals, assertLess, assertLessOrEqual, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "./property.ts";
import { OffstageError } from "../src/errors.ts";
import { MAX_STRING_BYTES } from "../src/exec/environment.ts";
import { chooseShell, commandProblem, MAX_COMMAND_BYTES, shellCommand } from "../src/exec/shell.ts";
import type { Shell, ShellChoice, ShellKind } from "../src/exec/shell.ts";

function choose(choice: Partial<ShellChoice> & { readonly programs: readonly string[] }): Promise<Shell> {
  const { programs, ...rest } = choice;
  return chooseShell({
    environment: {},
    platform: "posix",
    hasProgram: (name) => Promise.resolve(programs.includes(name)),
    ...rest,
  });
}

test("E20 the order is option, SHELL, bash, sh (case 103)", async () => {
  const programs = ["/opt/zsh", "/bin/ksh", "bash", "sh"];
  const environment = { SHELL: "/bin/ksh" };
  assertEquals(await choose({ programs, environment, option: "/opt/zsh" }), { path: "/opt/zsh", kind: "zsh" });
  assertEquals(await choose({ programs, environment }), { path: "/bin/ksh", kind: "ksh" });
  assertEquals(await choose({ programs }), { path: "bash", kind: "bash" });
  assertEquals(await choose({ programs: ["sh"] }), { path: "sh", kind: "sh" });
  assertEquals(await choose({ programs, option: "" }), { path: "bash", kind: "bash" });
});

test("E20 a SHELL that is no shell for commands, or is not there, is skipped", async () => {
  for (const name of ["/usr/bin/fish", "/sbin/nologin", "/bin/false", "/usr/bin/pwsh", "/bin/tcsh", "", "toString"]) {
    assertEquals(await choose({ programs: [name, "bash"], environment: { SHELL: name } }), {
      path: "bash",
      kind: "bash",
    });
  }
  assertEquals(await choose({ programs: ["sh"], environment: { SHELL: "/bin/zsh" } }), { path: "sh", kind: "sh" });
});

test("E20 an option is used or refused, never replaced", async () => {
  for (const option of ["fish", "/bin/busybox", "nu", "/opt/bash/"]) {
    const error = await assertRejects(() => choose({ programs: [option, "bash"], option }), OffstageError);
    assertEquals(error.code, "invalid");
    assertStringIncludes(error.message, option);
    assertStringIncludes(error.message, "bash, zsh");
  }
  const error = await assertRejects(() => choose({ programs: ["bash"], option: "/opt/zsh" }), OffstageError);
  assertEquals(error.code, "spawn-failed");
  assertStringIncludes(error.message, "/opt/zsh");
});

test("E20 shells that take the same wrapper are accepted as an option", async () => {
  for (
    const [option, kind] of [["/bin/ash", "sh"], ["mksh", "ksh"], ["/bin/ksh93", "ksh"], ["pwsh", "pwsh"]] as const
  ) {
    assertEquals(await choose({ programs: [option], option }), { path: option, kind });
  }
});

test("E20 on Windows the order is option, pwsh, powershell", async () => {
  const platform = "windows";
  const option = "C:\\Program Files\\Git\\bin\\BASH.EXE";
  const environment = { SHELL: "/bin/bash" };
  assertEquals(await choose({ platform, environment, programs: ["/bin/bash", "powershell", "pwsh"] }), {
    path: "pwsh",
    kind: "pwsh",
  });
  assertEquals(await choose({ platform, programs: ["powershell"] }), { path: "powershell", kind: "powershell" });
  assertEquals(await choose({ platform, programs: [option], option }), { path: option, kind: "bash" });
});

test("E20 a machine without any shell is a spawn failure", async () => {
  for (const platform of ["posix", "windows"] as const) {
    const error = await assertRejects(() => choose({ platform, programs: [] }), OffstageError);
    assertEquals(error.code, "spawn-failed");
  }
});

test("E1 a blank command and one with a NUL are refused", () => {
  for (const command of ["", " ", "\n\t "]) assertStringIncludes(commandProblem(command)?.message ?? "", "blank");
  assertStringIncludes(commandProblem("echo a\0b")?.message ?? "", "NUL");
  assertEquals(commandProblem(" echo "), undefined);
});

test("E37 a command over 1 MiB is refused with both numbers, counted in bytes", () => {
  assertEquals(commandProblem("x".repeat(MAX_COMMAND_BYTES)), undefined);
  assertEquals(commandProblem("€".repeat(MAX_COMMAND_BYTES / 3)), undefined);
  for (const command of ["x".repeat(MAX_COMMAND_BYTES + 2), "é".repeat(MAX_COMMAND_BYTES / 2 + 1)]) {
    const { key, message = "" } = commandProblem(command) ?? {};
    assertEquals(key, "command");
    assertStringIncludes(message, "1048578");
    assertStringIncludes(message, "1048576");
  }
});

const KINDS: readonly ShellKind[] = ["bash", "zsh", "sh", "dash", "ksh", "pwsh", "powershell"];

test("E37 the pieces put together are the text, none ends within a character, and each fits", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("x", "é", "€", "😀", "\n"));
  fc.assert(
    fc.property(fc.constantFrom(...KINDS), fc.array(text), fc.nat(300_000), (kind, seeds, size) => {
      const seed = seeds.join("") || "x";
      const command = seed.repeat(Math.ceil(size / seed.length));
      const { env } = shellCommand({ path: kind, kind }, command, { mergeStreams: false });
      assertEquals(Object.values(env).join(""), command);
      for (const [name, piece] of Object.entries(env)) {
        assertLessOrEqual(new TextEncoder().encode(`${name}=${piece}`).length, MAX_STRING_BYTES);
        if (kind === "pwsh" || kind === "powershell") assertLess(piece.length, 32_767);
        assertEquals(new TextDecoder().decode(new TextEncoder().encode(piece)), piece);
      }
    }),
    { numRuns: 50 },
  );
});

test("the arguments depend on nothing but the shell, the option and the number of pieces (case 53)", () => {
  for (const kind of KINDS) {
    for (const mergeStreams of [false, true]) {
      const [one, other] = ["echo 'a b'", '-rf /; $(x) "\n'].map((command) =>
        shellCommand({ path: `/bin/${kind}`, kind }, command, { mergeStreams }).argv
      );
      assertEquals(one, other);
      assertEquals(one?.[0], `/bin/${kind}`);
    }
  }
});

test("E20 shells are told to read no startup files", () => {
  const flags = (kind: ShellKind) => shellCommand({ path: kind, kind }, "x", { mergeStreams: false }).argv.slice(1, -1);
  assertEquals(flags("bash"), ["--norc", "-c"]);
  assertEquals(flags("zsh"), ["-f", "-c"]);
  for (const kind of ["sh", "dash", "ksh"] as const) assertEquals(flags(kind), ["-c"]);
  for (const kind of ["pwsh", "powershell"] as const) {
    assertEquals(flags(kind), ["-NoProfile", "-NonInteractive", "-Command"]);
  }
});
