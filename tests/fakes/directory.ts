/**
 * A directory of nodes that a test moves: they come, go, and are slow to be found.
 *
 * @module
 */
import { chooseNode, type NodeDirectory, type NodeInfo } from "../../mod.ts";
import { createFakeSpawner, type FakeSpawner } from "./spawner.ts";

/** One node of a fake directory. */
export interface FakeNode extends NodeInfo {
  /** The scopes that may use it; default: all. */
  readonly scopes?: readonly string[];
  /** Where its commands are started. */
  readonly spawner: FakeSpawner;
}

/** A fake directory, and what has been asked of it. */
export interface FakeDirectory extends NodeDirectory {
  /** The nodes there are, which a test changes as it goes. */
  readonly nodes: FakeNode[];
  /** What `choose` was asked for, and by whom. */
  readonly asked: (readonly [node: string | undefined, scope: string])[];
  /** How often it has been closed. */
  readonly closed: () => number;
}

/** A node that is there, and runs nothing. */
export function fakeNode(id: string, over: Partial<Omit<FakeNode, "id">> = {}): FakeNode {
  return { id, state: "online", labels: {}, running: 0, spawner: createFakeSpawner(), ...over };
}

/**
 * Makes a directory.
 *
 * @param answer what every question waits for; it may fail
 */
export function createFakeDirectory(
  nodes: readonly FakeNode[] = [],
  answer: () => Promise<void> = () => Promise.resolve(),
): FakeDirectory {
  const known = [...nodes];
  const asked: (readonly [string | undefined, string])[] = [];
  let closed = 0;
  const allowed = (scope: string | undefined): readonly FakeNode[] =>
    known.filter(({ scopes }) => scope === undefined || scope === "*" || (scopes?.includes(scope) ?? true));
  return {
    nodes: known,
    asked,
    closed: () => closed,
    list: async (scope) => {
      await answer();
      return allowed(scope).map(({ id, state, labels, running }) => ({ id, state, labels, running }));
    },
    choose: async (node, scope) => {
      asked.push([node, scope]);
      await answer();
      const { id, spawner } = chooseNode(allowed(scope), node);
      return { name: id, spawner };
    },
    close: async () => {
      closed += 1;
      await answer();
    },
  };
}
