// The program: a WASI command with its files in memory.

import { Directory, File, type Inode, OpenFile, PreopenDirectory, WASI, WASIProcExit } from "@bjorn3/browser_wasi_shim";

import type { Files, Run } from "./messages.js";

/** Exit code of a program that crashed, as in a shell. */
const CRASHED = 134;
const UTF8 = new TextEncoder();

/** Runs the program once. Every run has files of its own: `lab`, in which `changed` replaces. */
export function run(program: WebAssembly.Module, lab: Files, words: string[], changed: Files, input: string): Run {
  const began = performance.now();
  const before = { ...lab, ...changed };
  const root = new PreopenDirectory("/", tree(before));
  const [stdin, stdout, stderr] = [new File(UTF8.encode(input)), new File([]), new File([])];
  const descriptors = [new OpenFile(stdin), new OpenFile(stdout), new OpenFile(stderr), root];
  const host = new WASI(["p4sched-playground", ...words], [], descriptors, { debug: false });
  const ended = start(host, program);
  return {
    code: ended.code,
    output: text(stdout),
    errors: text(stderr) + ended.reason,
    files: written(root.dir, before),
    milliseconds: performance.now() - began,
  };
}

function start(host: WASI, program: WebAssembly.Module): { code: number; reason: string } {
  try {
    const instance = new WebAssembly.Instance(program, { wasi_snapshot_preview1: host.wasiImport });
    return { code: host.start(instance as Parameters<WASI["start"]>[0]), reason: "" };
  } catch (error) {
    if (error instanceof WASIProcExit) return { code: error.code, reason: "" };
    return { code: CRASHED, reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError && /call stack/.test(error.message)) {
    return "the program is nested too deeply for a browser\n";
  }
  return error instanceof WebAssembly.RuntimeError ? "" : `${error}\n`;
}

function tree(files: Files): Map<string, Inode> {
  const root = new Map<string, Inode>();
  for (const [path, content] of Object.entries(files)) {
    const names = path.split("/");
    if (names.some((name) => name === "" || name === "." || name === "..")) {
      throw new Error(`${path}: a path begins at the root of the lab, and has no ..`);
    }
    const last = names.pop() as string;
    const folder = names.reduce(below, root);
    folder.set(last, new File(UTF8.encode(content)));
  }
  return root;
}

function below(folder: Map<string, Inode>, name: string): Map<string, Inode> {
  const found = folder.get(name) ?? new Directory(new Map());
  if (!(found instanceof Directory)) throw new Error(`${name} is a file and a folder`);
  folder.set(name, found);
  return found.contents;
}

/** The files that differ from those before. */
function written(folder: Directory, before: Files, prefix = ""): Files {
  const found: Files = {};
  for (const [name, inode] of folder.contents) {
    const path = prefix + name;
    if (inode instanceof Directory) Object.assign(found, written(inode, before, `${path}/`));
    else if (inode instanceof File && text(inode) !== before[path]) found[path] = text(inode);
  }
  return found;
}

function text(file: File): string {
  return new TextDecoder().decode(file.data);
}
