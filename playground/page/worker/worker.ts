// The worker: loads the program once, and runs it for each request.

import type { Answer, Files, Request } from "./messages.js";
import { run } from "./program.js";

declare const self: { onmessage: ((event: MessageEvent<Request>) => void) | null; postMessage(answer: Answer): void };

async function load(): Promise<[WebAssembly.Module, Files]> {
  if (typeof WebAssembly === "undefined") throw new Error("this browser has no WebAssembly");
  const [program, files] = await Promise.all([fetched("program.wasm"), fetched("files.json")]);
  return Promise.all([compiled(program), files.json() as Promise<Files>]);
}

/** A browser keeps what it compiled from a stream, if the server names the type. */
async function compiled(response: Response): Promise<WebAssembly.Module> {
  const typed = response.headers.get("content-type")?.startsWith("application/wasm");
  return typed ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

async function fetched(file: string): Promise<Response> {
  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file}: the server answers ${response.status}`);
  return response;
}

function serve(program: WebAssembly.Module, lab: Files): void {
  self.onmessage = ({ data: { id, words, files, input } }) => {
    try {
      self.postMessage({ id, run: run(program, lab, words, files, input) });
    } catch (error) {
      self.postMessage({ id, failed: sentence(error) });
    }
  };
  self.postMessage({ files: lab });
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

load().then(
  ([program, lab]) => serve(program, lab),
  (error) => self.postMessage({ failed: sentence(error) }),
);
