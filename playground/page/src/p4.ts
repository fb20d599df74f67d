// The words of P4_16, for colours in the editor (P4_16 specification, appendix).
import { StreamLanguage } from "@codemirror/language";

const KEYWORDS = new Set(
  ("abstract action apply const control default else enum exit extern for if in inout out package parser return select " +
    "state struct header header_union switch table transition type typedef value_set this key actions entries size " +
    "default_action implementation counters meters register void").split(" "),
);
const TYPES = new Set("bit bool error int match_kind string tuple varbit list".split(" "));
const ATOMS = new Set("true false accept reject exact lpm ternary range optional selector NoAction".split(" "));

interface State {
  inComment: boolean;
}

/** The language of the editor. */
export const p4 = StreamLanguage.define<State>({
  name: "p4",
  startState: () => ({ inComment: false }),
  token(stream, state) {
    if (state.inComment || stream.match("/*")) {
      state.inComment = !/^.*?\*\//.test(stream.string.slice(stream.pos));
      if (state.inComment) stream.skipToEnd();
      else stream.match(/^.*?\*\//);
      return "comment";
    }
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.sol() && stream.match(/^\s*#.*/)) return "meta";
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (stream.match(/^@\w+/)) return "meta";
    if (stream.match(/^\d+[ws]?(?:0[xXbBoOdD])?[0-9a-fA-F_]*/)) return "number";
    const word = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
    if (word) return KEYWORDS.has(word[0]) ? "keyword" : TYPES.has(word[0]) ? "typeName" : ATOMS.has(word[0]) ? "atom" : "variableName";
    if (!stream.match(/^[-+*/%&|^~!<>=?:]+/)) stream.next();
    return null;
  },
  languageData: {
    commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
    closeBrackets: { brackets: ["(", "[", "{", '"'] },
  },
});
