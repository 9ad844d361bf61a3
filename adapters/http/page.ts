/**
 * The page at `/`: a list of sessions and a live terminal, served as plain files without a build step.
 *
 * @module
 */
import type { App, AppContext } from "./caller.ts";
import { HttpError } from "./errors.ts";
import { CONTENT_SECURITY_POLICY } from "./guards.ts";
import { type Asset, type Assets, loadAssets } from "./page_assets.ts";

/** Scripts of the page cannot make markup from text: a missed escape would be an error and no hole. */
const PAGE_POLICY = `${CONTENT_SECURITY_POLICY}; require-trusted-types-for 'script'`;

/** An address with the version in it never changes what it means. */
const FOREVER = "public, max-age=31536000, immutable";

/** Adds `GET /` and `GET /page/:version/…`, both without a token: they hold nothing of anybody's. */
export function pageRoutes(app: App): void {
  let loading: Promise<Assets> | undefined;
  const assets = (): Promise<Assets> =>
    loading ??= loadAssets().catch((error) => {
      loading = undefined;
      throw error;
    });

  app.get("/", async (c) => {
    const { version, index } = await assets();
    return serve(c, index, version, "no-cache", { "content-security-policy": PAGE_POLICY });
  });

  app.get("/page/:version/:file", async (c) => {
    const { version, files, missing } = await assets();
    const { version: asked, file } = c.req.param();
    const asset = asked === version ? files.get(file) : undefined;
    if (asset !== undefined) return serve(c, asset, version, FOREVER);
    const lacking = missing.get(file);
    throw lacking === undefined
      ? new HttpError(404, "not-found", "No such file of the page", "Load the page again")
      : new HttpError(404, "not-found", `${lacking} is not installed here`, `npm install ${lacking}`);
  });
}

function serve(
  c: AppContext,
  { type, body }: Asset,
  version: string,
  caching: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const etag = `"${version}"`;
  const headers = { ...more, etag, "cache-control": caching };
  if (c.req.header("if-none-match") === etag) return c.body(null, 304, headers);
  return c.body(body, 200, { ...headers, "content-type": type });
}
