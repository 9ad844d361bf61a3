/**
 * Server-sent events, read from text that comes in pieces: EventSource cannot send a token.
 *
 * @module
 */

/** One message of a stream. */
export interface StreamMessage {
  /** Its type; `message` if the stream names none. */
  readonly event: string;
  /** Its lines, joined by line feeds. */
  readonly data: string;
  /** Its id, if it has one: where a later connection goes on from. */
  readonly id: string | undefined;
}

/** Takes the next piece of a stream and gives the messages that are whole now. */
export type EventParser = (text: string) => readonly StreamMessage[];

/** Makes a parser for one stream, as the HTML standard reads them; comments and `retry` are passed over. */
export function createEventParser(): EventParser {
  let rest = "";
  let endedInCr = false;
  let event = "";
  let data: string[] = [];
  let id: string | undefined;

  function take(line: string): void {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
    else if (field === "id" && !value.includes("\0")) id = value;
  }

  return (text) => {
    if (text === "") return [];
    const lines = (rest + (endedInCr && text.startsWith("\n") ? text.slice(1) : text)).split(/\r\n|\r|\n/);
    endedInCr = text.endsWith("\r");
    rest = lines.pop() ?? "";
    const messages: StreamMessage[] = [];
    for (const line of lines) {
      if (line !== "") {
        take(line);
        continue;
      }
      if (data.length > 0) messages.push({ event: event === "" ? "message" : event, data: data.join("\n"), id });
      event = "";
      data = [];
      id = undefined;
    }
    return messages;
  };
}
