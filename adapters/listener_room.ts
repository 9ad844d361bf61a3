/**
 * Room for a listener of ours on `process`. Ten listeners to one event are taken for a leak, and a warning says so on the
 * host's stderr; eleven instances, or bridges to eleven children, are none.
 *
 * @module
 */
import process from "node:process";

/**
 * Allows one listener more for each event of `process`, unless the host has lifted the bound (0, Infinity).
 *
 * @returns takes that back, once
 */
export function makeRoom(): () => void {
  if (!addRoom(1)) return () => {};
  let isHeld = true;
  return () => {
    if (isHeld) addRoom(-1);
    isHeld = false;
  };
}

function addRoom(count: number): boolean {
  const room = process.getMaxListeners();
  if (room === 0 || room === Infinity) return false;
  process.setMaxListeners(Math.max(1, room + count)); // 0 would be no bound at all
  return true;
}
