// What somebody works on: a program, the open file, and the changed files. It is kept in this browser.
import { valid } from "./share.js";

const KEY = "p4sched-playground";
const ASIDE = "p4sched-playground-aside";
const INCLUDE = /^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"/gm;

/** A project without the files that did not change. */
export interface Saved {
  /** Key of a `Subject`. */
  program: string;
  file: string;
  edits: Record<string, string>;
}

/** A program that somebody can choose: one of `p4/`, or the start of a lab. */
export interface Subject {
  key: string;
  title: string;
  about: string;
  /** File of the program. */
  main: string;
  /** File with the rule, which opens first. */
  rule: string;
  scheme: string;
  /** What the program is for. Python: a controller, which no packet passes. */
  target: "v1model" | "tna" | "python";
  /** For a lab: where the compiler expects each file of the student. */
  places: Record<string, string>;
  /** For a lab: its folder's name. */
  lab?: string;
}

export class Project {
  subject: Subject;
  file: string;
  edits: Record<string, string> = {};
  private listeners: (() => void)[] = [];

  constructor(
    readonly originals: Record<string, string>,
    readonly subjects: readonly Subject[],
  ) {
    const first = subjects.find(({ key }) => key === "aifo") ?? subjects[0];
    if (!first) throw new Error("There are no programs.");
    this.subject = first;
    this.file = first.rule;
  }

  /** Calls `listener` after each change of the text or the choice. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  choose(key: string): void {
    this.subject = this.subjects.find((subject) => subject.key === key) ?? this.subject;
    this.file = this.subject.rule;
    this.changed();
  }

  open(file: string): void {
    this.file = this.ownName(file);
    this.changed();
  }

  /** Text of a file, with its changes. */
  text(file: string): string {
    return this.edits[file] ?? this.originals[file] ?? "";
  }

  write(file: string, text: string): void {
    if (text === this.text(file)) return;
    if (text === this.originals[file]) delete this.edits[file];
    else this.edits[file] = text;
    this.changed();
  }

  /** Takes the changes of this program back. */
  reset(): void {
    for (const file of this.files()) delete this.edits[file];
    this.changed();
  }

  isChanged(): boolean {
    return this.files().some((file) => file in this.edits);
  }

  /** Files of the program: those of the student, the program, and all that it includes. */
  files(): string[] {
    const own = Object.keys(this.subject.places);
    if (this.subject.target === "python") return own;
    const placed = new Set(Object.values(this.subject.places));
    const included = this.included(this.subject.main).filter((file) => !placed.has(file));
    return [...own, ...(own.includes(this.subject.rule) ? [] : [this.subject.rule]), ...included.filter((file) => file !== this.subject.rule)];
  }

  /** Changed files, by the names that the compiler reads. */
  overlay(): Record<string, string> {
    const found: Record<string, string> = {};
    for (const [file, text] of Object.entries(this.edits)) if (!file.startsWith("labs/")) found[file] = text;
    for (const [file, place] of Object.entries(this.subject.places)) found[place] = this.text(file);
    return found;
  }

  /** The name that the compiler uses for a file. */
  place(file: string): string {
    return this.subject.places[file] ?? file;
  }

  /** The name of a file that the compiler names. */
  ownName(place: string): string {
    const found = Object.entries(this.subject.places).find(([, other]) => other === place);
    return found ? found[0] : place;
  }

  saved(): Saved {
    return { program: this.subject.key, file: this.file, edits: this.edits };
  }

  /** Takes over a saved project. Files that do not exist here are left out. */
  restore(saved: Saved): void {
    this.subject = this.subjects.find(({ key }) => key === saved.program) ?? this.subject;
    this.edits = Object.fromEntries(Object.entries(saved.edits).filter(([file]) => file in this.originals));
    this.file = this.files().includes(saved.file) ? saved.file : this.subject.rule;
    this.changed();
  }

  private included(main: string): string[] {
    const found = new Set<string>();
    const waiting = [main];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (found.has(file) || !(file in this.originals)) continue;
      found.add(file);
      const folder = file.slice(0, file.lastIndexOf("/") + 1);
      for (const [, name] of this.text(file).matchAll(INCLUDE)) waiting.push(normal(folder + name));
    }
    return [...found];
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** Keeps a project in this browser. False: the browser keeps nothing. */
export function keep(saved: Saved): boolean {
  try {
    localStorage.setItem(KEY, JSON.stringify(saved));
    return true;
  } catch {
    return false;
  }
}

/** Calls back when another tab of this browser keeps its project in the place of this one. */
export function onOtherTab(then: () => void): void {
  window.addEventListener("storage", ({ key, newValue }) => key === KEY && newValue !== null && then());
}

/** Puts a project aside, because a link has another one. */
export function putAside(saved: Saved): void {
  try {
    localStorage.setItem(ASIDE, JSON.stringify(saved));
  } catch {
    // the browser keeps nothing
  }
}

/** Takes the project that was put aside. */
export function takeAside(): Saved | null {
  const found = aside();
  localStorage.removeItem(ASIDE);
  return found;
}

/** The project that this browser keeps. */
export function kept(): Saved | null {
  return read(KEY);
}

/** The project that was put aside. */
export function aside(): Saved | null {
  return read(ASIDE);
}

function read(key: string): Saved | null {
  try {
    const text = localStorage.getItem(key);
    return text === null ? null : valid(JSON.parse(text));
  } catch {
    return null;
  }
}
