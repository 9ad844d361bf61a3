/**
 * Parses sources with the TypeScript that compiles the package.
 *
 * @module
 */

import type { SourceFile } from "typescript/unstable/ast";
import { createVirtualFileSystem } from "typescript/unstable/fs";
import { API } from "typescript/unstable/sync";

/** Hands the syntax trees of some sources, by path, to `use`; afterwards they are gone. */
export function withTrees<T>(
  sources: ReadonlyMap<string, string>,
  use: (trees: ReadonlyMap<string, SourceFile>) => T,
): T {
  const root = "/sources";
  const config = { compilerOptions: { noLib: true, noResolve: true, types: [] }, files: [...sources.keys()] };
  const files = [...sources].map(([path, text]): [string, string] => [`${root}/${path}`, text]);
  const fs = createVirtualFileSystem({
    [`${root}/tsconfig.json`]: JSON.stringify(config),
    ...Object.fromEntries(files),
  });
  const api = new API({ cwd: root, fs });
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${root}/tsconfig.json`] }).getProjects();
    return use(
      new Map([...sources.keys()].map((path) => {
        const tree = project?.program.getSourceFile(`${root}/${path}`);
        if (tree === undefined) throw new TypeError(`Cannot parse ${path}`);
        return [path, tree];
      })),
    );
  } finally {
    api.close();
  }
}
