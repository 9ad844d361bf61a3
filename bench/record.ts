/**
 * Records what real programs write to a terminal, for `characters.ts`: `node bench/record.ts [name…]`.
 *
 * Each recording is the raw output, byte for byte, of one command in a terminal of 120 × 30. They run in `/tmp/demo`
 * with that as their home and `demo` for a name, so that nothing of the machine is in them. Some need a program or a
 * right that not every machine has; those that fail are named and left as they were.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createOffstage } from "../adapters/auto.ts";
import type { Agent } from "../mod.ts";

/** One recording. */
interface Recording {
  /** What is run beforehand, unrecorded. */
  readonly before?: string;
  readonly command: string;
  /** What is typed, each when the program is silent. */
  readonly keys?: readonly (readonly string[])[];
}

const HOME = "/tmp/demo";
const LONGEST_BYTES = 60 * 1024;

/** Bars of several lines as `docker pull` draws them. */
const LAYERS = `
import sys, time
layers = ["8e5c4f0285ec", "1f7ce2fa46ab", "e4fff0779e6d", "d3a5d7c9be11", "0a6b5d2c4f88"]
done = [0] * 5
size = [31.4, 2.1, 118.9, 54.0, 9.6]
out = sys.stdout
out.write("latest: Pulling from library/demo\\n")
for layer in layers: out.write(layer + ": Pulling fs layer\\n")
while min(done) < 100:
    for i in range(5):
        if done[i] >= 100: continue
        done[i] = min(100, done[i] + (i * 3 + 7) % 11 + 1)
        bar = ("=" * (done[i] // 2) + ">").ljust(51)
        text = layers[i] + ": Downloading [" + bar + "] " + ("%.2fMB/%.1fMB" % (size[i] * done[i] / 100, size[i])).rjust(16)
        if done[i] == 100: text = layers[i] + ": Pull complete"
        out.write("\\x1b[%dA\\x1b[2K\\r%s\\r\\x1b[%dB" % (5 - i, text, 5 - i))
        out.flush()
        time.sleep(0.004)
out.write("Digest: sha256:5c3d0f6a\\nStatus: Downloaded newer image for demo:latest\\n")
`;

/** A bar as tqdm draws it. */
const BAR = `
import sys, time
for i in range(401):
    bar = "█" * (i // 10) + " ▏▎▍▌▋▊▉"[i * 8 // 10 % 8] * (i < 400)
    sys.stderr.write("\\rDownloading demo.whl: %3d%%|%s| %d/400 [00:%02d<00:%02d, 88.1MB/s]" % (i // 4, bar.ljust(40), i, i // 50, 8 - i // 50))
    time.sleep(0.001)
sys.stderr.write("\\nSuccessfully installed demo-1.0\\n")
`;

/** Several bars of the library that pip draws with. */
const TASKS = `
import time
from pip._vendor.rich.console import Console
from pip._vendor.rich.progress import Progress
with Progress(console=Console(force_terminal=True, width=100), refresh_per_second=20) as progress:
    tasks = [progress.add_task("[cyan]" + name, total=100) for name in ("resolve", "download", "install")]
    for step in range(100):
        for index, task in enumerate(tasks): progress.update(task, advance=1 + index * 0.5)
        if step % 25 == 24: progress.console.print("checkpoint [green]%d[/] passed" % step)
        time.sleep(0.015)
`;

/** Sends three million bytes in five seconds. */
const SLOW_SERVER = `
import http.server, time
class Slow(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "3000000")
        self.end_headers()
        for _ in range(100):
            self.wfile.write(bytes(30000))
            time.sleep(0.05)
http.server.HTTPServer(("127.0.0.1", 18080), Slow).serve_forever()
`;

const python = (name: string, text: string): string => `cat > ${name}.py <<'EOF'\n${text}\nEOF`;

const C_FILES =
  "mkdir -p c && cd c && for i in $(seq 12); do printf 'int f%s(int a) { int unused; return a * %s; }\\n' $i $i > f$i.c; done; " +
  "printf 'int main(void) { return 0; }\\n' > main.c; " +
  "printf 'OBJS = %s\\nCFLAGS = -Wall -fdiagnostics-color=always\\nmain: $(OBJS)\\n\\tcc -o main $(OBJS)\\nclean:\\n\\trm -f main *.o\\n' \"$(ls *.c | sed 's/c$/o/' | tr '\\n' ' ')\" > Makefile";

const RECORDINGS: Readonly<Record<string, Recording>> = {
  "npm_install": {
    before:
      'mkdir -p npm && cd npm && for i in $(seq 40); do mkdir -p dep$i; printf \'{"name":"dep%s","version":"1.0.0"}\' $i > dep$i/package.json; tar czf dep$i.tgz --transform s,^dep$i,package, dep$i; done; printf \'{"name":"demo","version":"1.0.0"}\' > package.json',
    command: "cd npm && npm install --offline --no-audit --no-fund --foreground-scripts=false ./dep*.tgz",
  },
  "git_clone": {
    before:
      "rm -rf origin copy; git init -q origin && cd origin && git config user.email demo@example.org && git config user.name demo && head -c 40000000 /dev/urandom | split -b 20000 - file_ && git add . && git commit -qm demo && for i in $(seq 40); do echo $i > f; git add f; git commit -qm $i; done",
    command: "git clone --progress file:///tmp/demo/origin copy",
  },
  "git_gc": {
    command: "cd origin && git -c color.ui=always log --oneline --graph | cat; git gc --aggressive --prune=now",
  },
  "curl": {
    before: `${python("server", SLOW_SERVER)}\n(python3 server.py > server.log 2>&1 & echo $! > server.pid); sleep 1`,
    command:
      "curl -o copy.bin http://127.0.0.1:18080/big; curl -# -o copy.bin http://127.0.0.1:18080/big; kill $(cat server.pid)",
  },
  "apt_install": {
    before:
      "mkdir -p deb/DEBIAN deb/usr/share/offstage-demo && echo demo > deb/usr/share/offstage-demo/demo && printf 'Package: offstage-demo\\nVersion: 1.0\\nArchitecture: all\\nMaintainer: demo <demo@example.org>\\nDescription: demo\\n' > deb/DEBIAN/control && dpkg-deb -b deb demo.deb",
    command:
      "apt-get -o Dir::Etc::sourceparts=/dev/null -o Dpkg::Progress-Fancy=1 -o APT::Sandbox::User=root install -y ./demo.deb; apt-get -o Dir::Etc::sourceparts=/dev/null -o Dpkg::Progress-Fancy=1 purge -y offstage-demo",
  },
  "pip_bar": { before: python("bar", BAR), command: "python3 bar.py" },
  "rich_progress": { before: python("tasks", TASKS), command: "python3 tasks.py" },
  "docker_pull": { before: python("layers", LAYERS), command: "python3 layers.py" },
  "cargo_build": {
    before:
      'rm -rf rust && mkdir rust && cd rust && members= && for i in $(seq 10); do cargo init -q --vcs none --lib crate$i; echo "pub fn f$i() -> u32 { let unused = 1; $i }" > crate$i/src/lib.rs; members="$members\\"crate$i\\","; done && printf \'[workspace]\\nresolver = "2"\\nmembers = [%s]\\n\' "$members" > Cargo.toml',
    command: "cd rust && CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=100 cargo build --offline",
  },
  "pytest": {
    before:
      "mkdir -p py && cd py && printf 'import pytest\\n@pytest.mark.parametrize(\"n\", range(400))\\ndef test_n(n):\\n    assert n != 321\\n' > test_demo.py",
    command: "cd py && pytest -p no:cacheprovider --color=yes; pytest -p no:cacheprovider -q --color=yes",
  },
  "make": { before: C_FILES, command: "cd c && make; make clean; make -j2" },
  "tar": {
    command: "tar --owner=demo --group=demo -cvf demo.tar c py | head -300; for i in 1 2 3; do tar -tvf demo.tar; done",
  },
  "top_batch": { command: "top -b -n 3 -d 0.3 -p $$" },
  "top": { command: "top -d 0.4 -p $$", keys: [[], ["c"], ["M"], ["q"]] },
  "htop": { command: "htop -d 4 -p $$", keys: [[], ["t"], ["Down"], ["q"]] },
  "watch": { command: "watch -t -n 0.3 'echo x >> times; wc -l < times; seq 1 9'", keys: [[], [], ["C-c"]] },
  "vim": {
    before: "seq -f 'line %g of the text' 200 > text",
    command: "vim -u NONE -N text",
    keys: [["5", "d", "d"], ["i", "n", "e", "w", "escape"], ["G"], ["C-b"], [":", "w", "q", "enter"]],
  },
  "less": { command: "less text", keys: [["space"], ["space"], ["G"], ["g"], ["/", "9", "9", "enter"], ["q"]] },
  "python_repl": {
    command: "python3 -q",
    keys: [["x", "space", "=", "space", "6", "*", "7", "enter"], ["x", "enter"], ["up", "up", "bspace", "8", "enter"], [
      "x",
      "enter",
    ], ["C-d"]],
  },
  "ssh_keygen": {
    before: "rm -f key key.pub",
    command: "ssh-keygen -t ed25519 -C demo -f key",
    keys: [["enter"], ["enter"]],
  },
  "fish": {
    command: "fish --no-config -C 'function fish_prompt; echo -n \"> \"; end'",
    keys: [["e", "c", "h", "o", "space", "o", "n", "e", "enter"], ["up", "bspace", "x", "enter"], [
      "e",
      "x",
      "i",
      "t",
      "enter",
    ]],
  },
};

const folder = fileURLToPath(new URL("corpus/", import.meta.url));

async function record(agent: Agent, name: string, { before, command, keys = [] }: Recording): Promise<void> {
  const env = { HOME, USER: "demo", LOGNAME: "demo", LANG: "C.UTF-8", PS1: "$ ", HISTFILE: "/dev/null" };
  if (before !== undefined) {
    const made = await agent.exec({ command: before, workdir: HOME, env });
    if (made.isError) throw new Error(made.text);
  }
  const started = await agent.exec({ command, workdir: HOME, env, pty: true, background: true });
  const sessionId = "sessionId" in started.details ? started.details.sessionId ?? "" : "";
  for (const group of keys) {
    await agent.process({ action: "poll", sessionId, until: "idle:400", timeout: 3_000 });
    if (group.length > 0) await agent.process({ action: "send-keys", sessionId, keys: group, delayMs: 30 });
  }
  await agent.process({ action: "poll", sessionId, until: "exit", timeout: 30_000 });
  const output = await bytesOf(agent, sessionId);
  await agent.process({ action: "remove", sessionId });
  if (output.length > LONGEST_BYTES) throw new Error(`${output.length} bytes are too many`);
  writeFileSync(`${folder}${name}.out`, output);
  console.log(`${name}: ${output.length} bytes`);
}

async function bytesOf(agent: Agent, sessionId: string): Promise<Uint8Array> {
  const pages: Uint8Array[] = [];
  for (let since = 0;;) {
    const { details } = await agent.process({ action: "log", sessionId, bytes: true, since });
    const page = "bytes" in details ? details.bytes : null;
    if (page === null) throw new Error("No bytes");
    pages.push(Buffer.from(page.base64, "base64"));
    since = page.to;
    if (since >= page.total) return Buffer.concat(pages);
  }
}

mkdirSync(HOME, { recursive: true });
mkdirSync(folder, { recursive: true });
const offstage = createOffstage({
  tools: { exec: { inheritEnv: { allow: ["PATH", "RUSTUP_HOME", "CARGO_HOME"] }, maxOutputChars: 2_000_000 } },
});
const names = process.argv.slice(2);
for (const [name, recording] of Object.entries(RECORDINGS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  await record(offstage.agent("record"), name, recording).catch((error) => console.log(`${name}: ${error}`));
}
await offstage.close();
