/**
 * A served instance in a process of its own, for a browser that is driven from another runtime: prints its address, and
 * ends with its stdin. The words it is given are origins whose pages may call it.
 *
 * @module
 */
import process from "node:process";
import { serveHttp } from "../conformance/http_server.ts";

const served = await serveHttp({}, { allowedOrigins: process.argv.slice(2) });
console.log(served.url);
for await (const _ of process.stdin);
await served.close();
process.exit();
