/**
 * What a caller has got wrong in the options of a host.
 *
 * @module
 */
import { test } from "node:test";
import { assertStringIncludes, assertThrows } from "@std/assert";
import { bubblewrap } from "../adapters/hosts/bubblewrap.ts";
import { container } from "../adapters/hosts/container.ts";
import { nats, serveNode } from "../adapters/hosts/nats.ts";
import { ssh } from "../adapters/hosts/ssh.ts";
import { OffstageError } from "../mod.ts";

/** Options as a caller without types may write them. */
const wrong = <Options>(options: object): Options => options as Options;

test("an option that there is not is refused by every host, in a message that names it and those there are", () => {
  const makers: readonly (readonly [make: () => unknown, name: string, known: string])[] = [
    [() => bubblewrap(wrong({ workspace: "/srv", readonly: true })), "readonly", "readOnly"],
    [() => ssh(wrong({ destination: "builder", option: {} })), "option", "options"],
    [() => container(wrong({ engine: "podman", target: "web", User: "me" })), "User", "user"],
    [() => nats(wrong({ servers: "hub" })), "servers", "url"],
  ];
  for (const [make, name, known] of makers) {
    const { message } = assertThrows(make, OffstageError);
    assertStringIncludes(message, `${name}: unknown; known are `);
    assertStringIncludes(message, known);
  }
});

test("a node whose scopes are misspelt does not serve everybody", async () => {
  const error: unknown = await serveNode(wrong({ id: "a", scope: ["me"] })).catch((error: unknown) => error);
  assertStringIncludes(String(error), "scope: unknown; known are ");
});
