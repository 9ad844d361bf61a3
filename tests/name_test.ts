/** P1 and R11: names of sessions. */

import { test } from "node:test";
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import fc from "./property.ts";
import { sessionName } from "../src/session/name.ts";

function check(cases: Readonly<Record<string, string>>): void {
  for (const [command, name] of Object.entries(cases)) {
    assertEquals(sessionName(command), name, JSON.stringify(command));
  }
}

test("P1 a name is the first word and the first later word that is not an option", () => {
  check({
    "npm test": "npm test",
    "npm --silent run build": "npm run",
    "sleep 600": "sleep 600",
    "ls": "ls",
    "ls -la": "ls",
    "tail -f /var/log/syslog | grep x": "tail /var/log/syslog",
    "python3 -m http.server 8000": "python3 http.server",
    "rm -rf *.log ~/tmp": "rm *.log",
    "make;ls": "make",
    "node server.js &": "node server.js",
    "cat <<EOF > out.txt\nsecret\nEOF": "cat",
    "sort <in.txt >out.txt 2>&1 -u words.txt": "sort words.txt",
    "make \\\n  all": "make all",
    "make \\\nall": "make all",
    "printf 後 後藤": "printf 後",
  });
});

test("P1 assignments, launchers and a change of directory in front are passed over", () => {
  check({
    "NODE_ENV=test npm test": "npm test",
    "CI= npm test": "npm test",
    "A='x y' B=$(date +%s) npm test": "npm test",
    "sudo -u bob -n systemctl restart nginx": "systemctl restart",
    "env -i FOO=bar timeout -k 5 30 make check": "make check",
    "nohup nice -n 10 python3 train.py": "python3 train.py",
    "time cargo build": "cargo build",
    "cd /srv/app && npm run dev": "npm run",
    "cd /srv/app || exit 1; npm test": "npm test",
    "set -e\nexport A=1\nmake all": "make all",
    "(cd web; yarn dev)": "yarn dev",
    "{ make all; }": "make all",
    "# build\n\nmake all": "make all",
    "source <(kubectl completion bash)": "kubectl completion",
    "cd /srv/app": "cd /srv/app",
    "sudo -i": "sudo",
    "env": "env",
    "timeout 30": "timeout 30",
  });
});

test("P1 every launcher and everything that only prepares is passed over", () => {
  const launchers = "sudo doas env nohup setsid exec command time nice ionice stdbuf ! {".split(" ");
  const preludes = ["cd a", "pushd a", "export A=1", "set -e", "source a", ". a", "umask 022", "ulimit -n 9", "exit 1"];
  check(Object.fromEntries([
    ...launchers.map((launcher) => [`${launcher} make all`, "make all"]),
    ...preludes.map((prelude) => [`${prelude} && make all`, "make all"]),
  ]));
  check({
    "doas -u bob make all": "make all",
    "exec -a other make all": "make all",
    "time -f %e -o out make all": "make all",
    "ionice -c 3 -n 7 make all": "make all",
    "stdbuf -e 0 -i 0 -o L make all": "make all",
    "timeout -k 5 -s INT 30 make all": "make all",
    "env -C /a -u B make all": "make all",
    "timeout 30 make": "make",
  });
});

test("R11 quotations and expansions end where the shell ends them, one in the other too", () => {
  check({
    "echo '' c": "echo c",
    "echo a\\b c": "echo c",
    'echo "" c': "echo c",
    "echo $(a (b c) d e) f": "echo f",
    'echo "$(printf "x y z" w)" d': "echo d",
    'echo "${A:-"x y"} z" d': "echo d",
    'echo ${"} x"} c': "echo c",
    "echo $(printf 'a) b' c) d": "echo d",
    'echo "it\'s (" d': "echo d",
    'echo "a \\" b" d': "echo d",
    "echo $(a \\) b) d": "echo d",
    "echo `a b` c": "echo c",
    "echo $(printf '' b) d": "echo d",
    "echo 'never closed d": "echo",
    "echo $(never closed d": "echo",
    "echo a\\": "echo",
    "echo $ c": "echo c",
    "echo # c": "echo",
    "make 3>out <in >&2 >|log all": "make all",
    "make 3 > out": "make 3",
  });
});

test("R11 quoted, escaped and expanded words are skipped", () => {
  check({
    "echo 'a b' c": "echo c",
    'git commit -m "fix: the thing" file.txt': "git commit",
    "bash -c 'echo secret'": "bash",
    "echo $HOME ${X:-y} $(cat secret) `cat secret` done": "echo done",
    "echo $(printf '%s' \"$(cat secret)\") done": "echo done",
    "echo a\\ b c": "echo c",
    'echo pre"quoted"post next': "echo next",
    "'quoted command' arg": "shell",
    "$EDITOR file": "shell",
  });
});

test("R11 words with : or = and whatever looks like a credential are skipped (case 125)", () => {
  check({
    "curl -H 'Authorization: Bearer abc' https://x.example": "curl",
    "curl -H Authorization: Bearer abc123 example.org": "curl example.org",
    "docker run -p 80:80 nginx": "docker run",
    "deploy password=hunter2 prod": "deploy prod",
    "login --token abc --user bob": "login bob",
    "vault login --password hunter2": "vault login",
    "login $token hunter2 now": "login now",
    "gh auth ghp_abcdefghijklmnopqrstuvwxyz0123": "gh auth",
    "login sk-abcdefghij0123456789": "login",
    "login eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig": "login",
    "login AKIAIOSFODNN7EXAMPLE": "login",
    "git checkout 0123456789abcdef0123456789abcdef01234567": "git checkout",
    "verify 0123456789abcdef0123456789abcdef01234567 file": "verify file",
    "sshpass -p hunter2 ssh host": "sshpass",
    "redis-cli -a hunter2 ping": "redis-cli",
    "sk-abcdefghij0123456789": "shell",
  });
});

test("R11 what follows a command that is often given a password is not in its name", () => {
  const verbs = "sshpass export htpasswd chpasswd passwd redis-cli mongo mongosh sqlcmd ldapsearch kinit smbclient";
  check(Object.fromEntries(verbs.split(" ").map((verb) => [`${verb} hunter2`, verb])));
});

test("P1 a long name is cut in the middle at 48 characters", () => {
  const name = sessionName(`cat /${"directory/".repeat(20)}file.txt`);
  assertEquals([...name].length, 48);
  assert(name.startsWith("cat /directory/") && name.includes("…") && name.endsWith("/file.txt"));
  assertEquals(sessionName(`cat ${"x".repeat(44)}`), `cat ${"x".repeat(44)}`);
  assertEquals([...sessionName(`cat ${"後".repeat(60)}`)].length, 48);
});

test("P1 there is always a name", () => {
  check({ "": "shell", " \n": "shell", "''": "shell", "&&": "shell", "# x": "shell", "A=1": "shell", "\\": "shell" });
});

test("P1 a name is short, plain and never empty, whatever the command", () => {
  const piece = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "'",
      '"',
      "\\",
      "$(",
      ")",
      "`",
      "${",
      "}",
      " ",
      "\n",
      "<<",
      ">",
      "|",
      "&",
      ";",
      "#",
      "sudo ",
      "cd x&&",
      "A=",
    ),
  );
  fc.assert(
    fc.property(fc.array(piece).map((pieces) => pieces.join("")), (command) => {
      const name = sessionName(command);
      assertLessOrEqual([...name].length, 48);
      assert(/^[\p{L}\p{N}_.,/@%+~^*…-]+(?: [\p{L}\p{N}_.,/@%+~^*…-]+)?$/u.test(name), name);
    }),
    { numRuns: 2_000 },
  );
});

test("R11 nothing quoted, assigned or announced as a secret is ever in a name (case 125)", () => {
  const word = fc.constantFrom(
    "npm",
    "run",
    "-v",
    "--flag",
    "file.txt",
    "sudo",
    "env",
    "cd",
    "|",
    "&&",
    ";",
    "2>&1",
    "(",
    ")",
  );
  const hidden = fc.constantFrom(
    "'XSECRET'",
    '"a XSECRET"',
    "'a' 'XSECRET b'",
    "key=XSECRET",
    "KEY='XSECRET'",
    "KEY=$(echo XSECRET)",
    "$(cat XSECRET)",
    "`cat XSECRET`",
    "${A:-XSECRET}",
    "--token=XSECRET",
    "--token XSECRET",
    "--api-key XSECRET",
    "-H Authorization: XSECRET",
    "Bearer XSECRET",
    "Authorization: Bearer XSECRET",
    "https://u:XSECRET@host",
    "u:XSECRET",
    "-pXSECRET",
    '"$(echo "XSECRET")"',
    "'it'\\''s XSECRET'",
    "<<< XSECRET",
    "> XSECRET",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(word, hidden)).map((words) => words.join(" ")), (command) => {
      assert(!sessionName(command).includes("SECRET"), `${command} → ${sessionName(command)}`);
    }),
    { numRuns: 2_000 },
  );
});

test("P1 a command of 1 MiB is named at once", () => {
  for (const part of ["'x' ", "$(", '"$(', "\\ ", "-x ", "a=b ", "<<", "`", "ab", "{ ", "sudo "]) {
    assert(sessionName(part.repeat(1_048_576 / part.length)).length > 0);
  }
});
