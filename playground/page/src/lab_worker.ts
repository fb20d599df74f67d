// The worker of the labs: Python (Pyodide) runs the check of the command line, and the program for each question.
import type { Files } from "../worker/messages.js";
import { run } from "../worker/program.js";

/** A check that the page wants. */
export interface LabRequest {
  lab: string;
  /** Text of each file of the student, by its name. */
  files: Files;
}

/** What a task got. */
export interface TaskMarks {
  task: string;
  score: number;
  maximum: number;
  says: string[];
  mistake: string | null;
}

/** The result of a check. */
export interface LabResult {
  lab: string;
  marks: TaskMarks[];
  score: number;
  maximum: number;
  remark: string;
  /** As on the command line. */
  text: string;
}

export type LabAnswer = { state: string } | { result: LabResult } | { failed: string };

interface Python {
  unpackArchive(archive: Uint8Array, format: string, options: { extractDir: string }): void;
  runPython(text: string): unknown;
  toPy(value: unknown): unknown;
  pyimport(name: string): { check(lab: string, files: unknown, run: (request: string) => string): string; install(): void };
}

declare const self: { onmessage: ((event: MessageEvent<LabRequest>) => void) | null; postMessage(answer: LabAnswer): void; location: Location };

const HOME = "/lab";

async function fetched(file: string): Promise<Response> {
  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file}: the server answers ${response.status}`);
  return response;
}

async function load(): Promise<(request: LabRequest) => LabResult> {
  self.postMessage({ state: "loading Python, once ..." });
  const { href } = new URL("pyodide/pyodide.mjs", self.location.href);
  const { loadPyodide } = (await import(href)) as { loadPyodide(): Promise<Python> };
  const [python, program, archive] = await Promise.all([
    loadPyodide(),
    fetched("program.wasm").then(async (answer) => WebAssembly.compile(await answer.arrayBuffer())),
    fetched("labs.zip").then((answer) => answer.arrayBuffer()),
  ]);
  python.unpackArchive(new Uint8Array(archive), "zip", { extractDir: HOME });
  python.runPython(`import sys\nsys.path[:0] = ["${HOME}/controller", "${HOME}"]`);
  const checks = python.pyimport("p4sched.labs.in_browser");
  checks.install();
  const answer = (request: string): string => {
    const { words, files: own, input } = JSON.parse(request) as { words: string[]; files: Files; input: string };
    // the check's folder holds all that a program needs
    return JSON.stringify(run(program, {}, words, own, input));
  };
  return ({ lab, files: own }) => JSON.parse(checks.check(lab, python.toPy(own), answer)) as LabResult;
}

const loaded = load();
self.onmessage = ({ data }) => {
  loaded
    .then((check) => {
      self.postMessage({ state: "checking ..." });
      self.postMessage({ result: check(data) });
    })
    .catch((error: unknown) => self.postMessage({ failed: error instanceof Error ? (error.message.trim().split("\n").at(-1) ?? "") : String(error) }));
};
