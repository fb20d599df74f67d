// Links that hold a project: JSON, compressed (deflate), in the fragment. A server never sees it.
import type { Saved } from "./project.js";

const FIRST = "#1.";
const MOST_CHARACTERS = 200_000;
const MOST_BYTES = 2_000_000;

/** An error in a link, or a project that no link can hold. */
export class LinkError extends Error {}

/** The fragment for a project. */
export async function fragmentOf(saved: Saved): Promise<string> {
  const bytes = await passed(new TextEncoder().encode(JSON.stringify(saved)), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  const fragment = FIRST + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  if (fragment.length > MOST_CHARACTERS) throw new LinkError("The change is too large for a link. Copy the text of the file instead.");
  return fragment;
}

/** The project of a fragment; null if the fragment is none of this page. */
export async function projectOf(fragment: string): Promise<Saved | null> {
  if (!fragment.startsWith(FIRST)) {
    if (/^#\d+\./.test(fragment)) throw new LinkError("This link was made by another version of the page.");
    return null;
  }
  try {
    const text = atob(fragment.slice(FIRST.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const json = await passed(bytes, new DecompressionStream("deflate-raw"));
    return valid(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json)));
  } catch {
    throw new LinkError("This link is damaged: a part of it is missing. Ask for it again.");
  }
}

async function passed(bytes: Uint8Array<ArrayBuffer>, through: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(through).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    length += part.value.length;
    if (length > MOST_BYTES) throw new LinkError("too long");
  }
  const whole = new Uint8Array(length);
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
}

/** Checks the shape of what came from outside. */
export function valid(found: unknown): Saved {
  const { program, file, edits } = found as Saved;
  if (typeof program !== "string" || typeof file !== "string" || typeof edits !== "object" || edits === null) throw new LinkError("no project");
  if (Object.values(edits).some((text) => typeof text !== "string")) throw new LinkError("no text");
  return { program, file, edits: { ...edits } };
}
