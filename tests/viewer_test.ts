/**
 * What a viewer is sent, whatever the session prints and whenever he takes it: adapters/http/{viewer,frames}.ts.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { createFrames, type Encode, FRAME_BYTES, type Frames } from "../adapters/http/frames.ts";
import { createViewer, type Step, type Viewed, type Viewer } from "../adapters/http/viewer.ts";
import type { Outcome, StreamName } from "../mod.ts";
import { createOutputLog, type OutputLog } from "../src/output/log.ts";
import fc from "./property.ts";

const OUTCOME: Outcome = { status: "completed", ok: true, exitCode: 0, signal: null, reason: "exit", limit: null };

const asBytes: Encode = ({ bytes }) => bytes;

/** A log, what its viewers may see of it, and everything that was ever in it. */
interface Scene {
  readonly log: OutputLog;
  readonly viewed: { -readonly [Key in keyof Viewed]: Viewed[Key] };
  readonly frames: Frames;
  readonly all: number[];
  print(bytes: Uint8Array, stream?: StreamName): void;
  show(): void;
}

function setScene(maxChars: number, encode: Encode = asBytes): Scene {
  const log = createOutputLog({ maxChars });
  const all: number[] = [];
  const viewed = {
    get start() {
      return log.start;
    },
    end: 0,
    over: false,
    outcome: undefined as Outcome | undefined,
  };
  return {
    log,
    viewed,
    frames: createFrames(log, encode),
    all,
    print: (bytes, stream = "stdout") => {
      log.append(stream, bytes);
      all.push(...bytes);
    },
    show: () => void (viewed.end = log.end),
  };
}

const text = (characters: string): Uint8Array => new TextEncoder().encode(characters);

/** Everything there is for a viewer now. */
function taken(viewer: Viewer): readonly Step[] {
  const steps: Step[] = [];
  for (let step = viewer.next(); step !== undefined; step = viewer.next()) steps.push(step);
  return steps;
}

test("a viewer gets every byte once, or is told which ones he does not get, whenever he takes what there is", () => {
  const action = fc.oneof(
    { weight: 4, arbitrary: fc.record({ print: fc.string({ unit: "grapheme", maxLength: 400 }) }) },
    { weight: 1, arbitrary: fc.record({ print: fc.constant("🙂é".repeat(4_000)) }) },
    { weight: 4, arbitrary: fc.constantFrom("show", "first takes one", "second takes all") },
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), fc.nat(50), (actions, since) => {
      const scene = setScene(1_000);
      const viewers = [createViewer(scene.viewed, scene.frames, 0), createViewer(scene.viewed, scene.frames, since)];
      const got: Step[][] = [[], []];
      const take = (who: number, step: Step | undefined): void => void (step && got[who]?.push(step));
      for (const each of actions) {
        if (typeof each === "object") scene.print(text(each.print));
        else if (each === "show") scene.show();
        else if (each === "first takes one") take(0, viewers[0]?.next());
        else for (const step of taken(viewers[1] as Viewer)) take(1, step);
      }
      scene.log.finish();
      scene.show();
      Object.assign(scene.viewed, { over: true, outcome: OUTCOME });
      viewers.forEach((viewer, who) => taken(viewer).forEach((step) => take(who, step)));
      for (const steps of got) {
        let at = 0;
        for (const step of steps.slice(0, -1)) {
          assert(step.kind !== "end");
          const { from, to } = step.kind === "gap" ? step : step.frame;
          assertEquals(from, at);
          assert(to > from);
          if (step.kind === "frame") assertEquals([...step.frame.bytes], scene.all.slice(from, to));
          at = to;
        }
        assertEquals(steps.at(-1), { kind: "end", at: scene.log.end, outcome: OUTCOME });
        assertEquals(at, scene.log.end);
      }
    }),
    { numRuns: 150 },
  );
});

test("a viewer who resumes at any offset gets the rest of it, from the start of the character he is in", () => {
  const scene = setScene(1_000);
  scene.print(text("añ🙂z"));
  scene.show();
  for (let since = 0; since <= 8; since++) {
    const steps = taken(createViewer(scene.viewed, scene.frames, since));
    const from = [0, 1, 1, 3, 3, 3, 3, 7][since];
    assertEquals(
      steps.map((step) => step.kind === "frame" ? [step.frame.from, step.frame.to] : step),
      from === undefined ? [] : [[from, 8]],
    );
  }
});

test("an offset that has not been reached means the present end", () => {
  const scene = setScene(1_000);
  scene.print(text("old"));
  scene.show();
  const viewer = createViewer(scene.viewed, scene.frames, 1_000);
  assertEquals(viewer.next(), undefined);
  scene.print(text("new"));
  scene.show();
  assertEquals(taken(viewer).map((step) => step.kind === "frame" && [step.frame.from, step.frame.to]), [[3, 6]]);
});

test("a viewer who takes nothing is skipped forward by one gap, and what is not shown yet makes no second one", () => {
  const scene = setScene(1_000);
  const viewer = createViewer(scene.viewed, scene.frames, 0);
  scene.print(text("x".repeat(10_000)));
  scene.show();
  scene.print(text("y".repeat(50_000))); // drops what may be shown before it may be shown itself
  assertEquals(viewer.next(), { kind: "gap", from: 0, to: scene.log.start });
  assertEquals(viewer.next(), undefined);
  scene.show();
  assertEquals(taken(viewer).map(({ kind }) => kind), ["frame"]);
});

test("the end comes once, and nothing after it: what a child that was left behind drops from the log is told before", () => {
  const scene = setScene(1_000);
  const viewer = createViewer(scene.viewed, scene.frames, 0);
  scene.print(text("shown"));
  scene.show();
  scene.viewed.over = true;
  scene.print(text("x".repeat(50_000)));
  assertEquals(taken(viewer), [{ kind: "gap", from: 0, to: 5 }, { kind: "end", at: 5, outcome: undefined }]);
  assertEquals([viewer.done, viewer.next()], [true, undefined]);
});

test("what is encoded fits 60 KiB, whatever it is, and is encoded once for all who are at the same place", () => {
  let encoded = 0;
  const json: Encode = ({ bytes }) => {
    encoded += bytes.length;
    return text(JSON.stringify(new TextDecoder().decode(bytes)));
  };
  const scene = setScene(200_000, json);
  scene.print(text("\0".repeat(100_000))); // six bytes of JSON each
  for (let index = 0; index < 3_000; index++) scene.print(text("ab"), index % 2 === 0 ? "stdout" : "stderr");
  scene.show();
  const frames = (): readonly Uint8Array[] =>
    taken(createViewer(scene.viewed, scene.frames, 0)).flatMap((step) =>
      step.kind === "frame" ? [step.frame.bytes] : []
    );
  const first = frames();
  assert(first.length > 5 && first.every(({ length }) => length <= FRAME_BYTES));
  const scene2 = setScene(200_000, json);
  scene2.print(text("x".repeat(100_000)));
  scene2.show();
  encoded = 0;
  for (let index = 0; index < 100; index++) taken(createViewer(scene2.viewed, scene2.frames, 0));
  assert(encoded < 200_000, `${encoded} bytes encoded`); // what did not fit a frame is encoded for the next one again
});
