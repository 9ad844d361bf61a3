/**
 * What npm leaves behind when it is asked to end.
 *
 * @module
 */
import process from "node:process";

/** How often it is looked whether the shell is still there, ms. */
const LOOK_MS = 250;

/** A script of npm that runs this program and waits for it: `offstage` for npx, that of `npm start` in a clone. */
const OWN_SCRIPT = /(?:^|[\s/'"])(?:offstage|cli\/main\.js)(?=['"\s]|$)[^&]*$/;

/**
 * Resolves once the shell has gone by which npm or npx has started this program. They hand SIGTERM on to that shell, and
 * it dies without handing it on (dash). Never resolves for a program that was started otherwise: that may outlive its
 * parent.
 */
export function launcherGone(): Promise<void> {
  const { env, ppid } = process;
  // A command of a session inherits what npm has said to the program that runs it
  if (!OWN_SCRIPT.test(env["npm_lifecycle_script"] ?? "") || env["OFFSTAGE_SESSION_ID"] !== undefined) {
    return new Promise(() => {});
  }
  return new Promise((resolve) => {
    const looking = setInterval(() => {
      if (process.ppid === ppid) return;
      clearInterval(looking);
      resolve();
    }, LOOK_MS);
    looking.unref();
  });
}
