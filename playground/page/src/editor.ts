// The editor: P4 with messages under the line, types on hover, completion and jumps to definitions.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers, type Tooltip } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Message, Position } from "../worker/messages.js";
import { p4 } from "./p4.js";
import { make } from "./page.js";

/** What an editor asks of the language server. */
export interface Questions {
  hover(file: string, position: Position): Promise<string | null>;
  definition(file: string, position: Position): Promise<{ file: string; position: Position } | null>;
  complete(file: string, position: Position): Promise<{ label: string; detail?: string }[]>;
}

/** What an editor tells the page. */
export interface Listener {
  changed(file: string, text: string): void;
  jump(file: string, position: Position): void;
}

const markLine = StateEffect.define<number | null>();
const marked = StateField.define({
  create: () => Decoration.none,
  update(lines, change) {
    let found = lines.map(change.changes);
    for (const effect of change.effects) {
      if (!effect.is(markLine)) continue;
      const line = effect.value === null ? null : change.state.doc.line(Math.min(effect.value, change.state.doc.lines));
      found = line === null ? Decoration.none : Decoration.set(Decoration.line({ class: "taken" }).range(line.from));
    }
    return found;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, class: "p4-keyword" },
  { tag: tags.typeName, class: "p4-type" },
  { tag: tags.comment, class: "p4-comment" },
  { tag: [tags.string, tags.number, tags.atom], class: "p4-value" },
  { tag: tags.meta, class: "p4-meta" },
]);

export class Editor {
  readonly view: EditorView;
  private file = "";
  private states = new Map<string, EditorState>();

  constructor(
    home: HTMLElement,
    private readonly questions: Questions,
    private readonly listener: Listener,
  ) {
    this.view = new EditorView({ parent: home, state: this.fresh("", "") });
  }

  /** Shows a file. Each file keeps its own history and place. */
  open(file: string, text: string): void {
    if (file === this.file) return this.replace(text);
    if (this.file) this.states.set(this.file, this.view.state);
    this.file = file;
    const state = this.states.get(file);
    this.view.setState(state && state.doc.toString() === text ? state : this.fresh(file, text));
  }

  /** Shows the messages of the open file. */
  mark(messages: readonly Message[]): void {
    const { doc } = this.view.state;
    const found = messages.map(({ range, severity, message }): Diagnostic => {
      const from = offsetOf(doc, range.start);
      const to = Math.max(offsetOf(doc, range.end), Math.min(from + 1, doc.length));
      return { from, to, severity: severity === 1 ? "error" : "warning", message };
    });
    this.view.dispatch(setDiagnostics(this.view.state, found));
  }

  /** Goes to a place, and marks its line until the next call with null. */
  go(position: Position, asTaken = false): void {
    const at = offsetOf(this.view.state.doc, position);
    this.view.dispatch({
      selection: { anchor: at },
      effects: [EditorView.scrollIntoView(at, { y: "center" }), markLine.of(asTaken ? position.line + 1 : null)],
    });
    if (!asTaken) this.view.focus();
  }

  private replace(text: string): void {
    const { doc } = this.view.state;
    if (doc.toString() !== text) this.view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
  }

  private fresh(file: string, text: string): EditorState {
    const language = file.endsWith(".py") ? [python()] : [p4, autocompletion({ override: [(context) => this.complete(context)] }), hoverTooltip((view, at) => this.hover(view, at))];
    return EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), lintGutter(), EditorView.lineWrapping, history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
        highlightActiveLine(), highlightSelectionMatches(), marked, language, syntaxHighlighting(colours), indentUnit.of("    "),
        keymap.of([
          { key: "F12", run: (view) => (void this.define(view.state.selection.main.head), true) },
          ...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap,
        ]),
        EditorView.contentAttributes.of({ "aria-label": "Program", tabindex: "0", spellcheck: "false" }),
        EditorView.domEventHandlers({ mousedown: (event, view) => this.click(event, view) }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) this.listener.changed(this.file, update.state.doc.toString());
        }),
      ],
    });
  }

  /** Ctrl and a click go to the definition. */
  private click(event: MouseEvent, view: EditorView): boolean {
    const at = event.ctrlKey || event.metaKey ? view.posAtCoords({ x: event.clientX, y: event.clientY }) : null;
    if (at === null) return false;
    void this.define(at);
    return true;
  }

  private async define(at: number): Promise<void> {
    const found = await this.questions.definition(this.file, positionOf(this.view.state.doc, at)).catch(() => null);
    if (found) this.listener.jump(found.file, found.position);
  }

  private async hover(view: EditorView, at: number): Promise<Tooltip | null> {
    const text = await this.questions.hover(this.file, positionOf(view.state.doc, at)).catch(() => null);
    if (!text) return null;
    return { pos: at, create: () => ({ dom: make("div", { class: "hover" }, make("pre", {}, plain(text))) }) };
  }

  private async complete(context: CompletionContext): Promise<CompletionResult | null> {
    const word = context.matchBefore(/\w*/);
    const dotted = context.matchBefore(/\.\w*/);
    if (!context.explicit && !dotted && (word === null || word.to - word.from < 2)) return null;
    const options = await this.questions.complete(this.file, positionOf(context.state.doc, context.pos)).catch(() => []);
    return options.length ? { from: word?.from ?? context.pos, options, validFor: /^\w*$/ } : null;
  }
}

/** Text of Markdown that is only a block of code. */
function plain(markdown: string): string {
  return markdown.replace(/^```\w*$/gm, "").trim();
}

function offsetOf(doc: Text, { line, character }: Position): number {
  if (line >= doc.lines) return doc.length;
  const found = doc.line(line + 1);
  return Math.min(found.from + character, found.to);
}

function positionOf(doc: Text, at: number): Position {
  const line = doc.lineAt(at);
  return { line: line.number - 1, character: at - line.from };
}
