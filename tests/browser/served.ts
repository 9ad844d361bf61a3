/**
 * A served instance in a process of its own, for a browser that is driven from another runtime: prints its address, and
 * ends with its stdin.
 *
 * @module
 */
import process from "node:process";
import { serveHttp } from "../conformance/http_server.ts";

const served = await serveHttp();
console.log(served.url);
for await (const _ of process.stdin);
await served.close();
process.exit();
