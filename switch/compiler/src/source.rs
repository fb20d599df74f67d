//! Source files, and positions in them.

use std::fmt;

/// A range of characters of one source file, as byte offsets into the whole [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest range that covers both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if other == Span::default() {
            return self;
        }
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// Start of a [`Span`], for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Name of the file, as given or included.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

struct SourceFile {
    name: String,
    text: String,
    /// Offset of the file's first byte in the whole map.
    base: u32,
    /// Offset in `text` of the start of each line.
    line_starts: Vec<u32>,
    /// Marks on the origin of the file's lines, in order of lines.
    marks: Vec<Mark>,
}

/// A mark: the next lines come from another place.
struct Mark {
    /// First line to which it applies, from 0.
    from: u32,
    /// Number of this line at its origin.
    line: u32,
    /// Name of the file; `None` if it does not change.
    name: Option<String>,
    /// True if `__LINE__` and `__FILE__` follow it.
    followed: bool,
}

impl SourceFile {
    /// Line of an offset, from 0.
    fn line_at(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|&s| s <= offset) - 1
    }
}

/// All files of a compilation, one after the other in one range of offsets.
#[derive(Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

/// Index of a file in its [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId(usize);

impl SourceMap {
    /// Largest size of all files together, in bytes.
    const LIMIT: usize = 256 << 20;

    /// Adds a file; `None` if all files together exceed 256 MiB.
    pub fn add(&mut self, name: &str, mut text: String) -> Option<FileId> {
        // Some editors write a byte order mark at the start of a file.
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        // One byte between files, so that the end of one is not the start of the next. Offset 0 means no place.
        let base = self.files.last().map_or(1, |f| f.base as usize + f.text.len() + 1);
        if base + text.len() > Self::LIMIT {
            return None;
        }
        let newlines = text.bytes().enumerate().filter(|&(_, b)| b == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(i, _)| i as u32 + 1)).collect();
        self.files.push(SourceFile {
            name: name.to_owned(),
            text,
            base: base as u32,
            line_starts,
            marks: Vec::new(),
        });
        Some(FileId(self.files.len() - 1))
    }

    /// End of the first file, which is the program itself.
    #[must_use]
    pub fn end_of_program(&self) -> Span {
        let Some(file) = self.files.first() else {
            return Span::default();
        };
        let end = file.base + file.text.trim_end().len() as u32;
        Span { start: end, end }
    }

    /// The text of a file.
    #[must_use]
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0].text
    }

    /// The name under which a file was added.
    #[must_use]
    pub fn name(&self, file: FileId) -> &str {
        &self.files[file.0].name
    }

    /// Offset of a file's first byte in the whole map.
    #[must_use]
    pub fn base(&self, file: FileId) -> u32 {
        self.files[file.0].base
    }

    fn file_at(&self, offset: u32) -> Option<&SourceFile> {
        let after = self.files.partition_point(|f| f.base <= offset);
        self.files[..after]
            .last()
            .filter(|f| (offset - f.base) as usize <= f.text.len())
    }

    /// The position of the start of `span`; `None` for the empty default span.
    #[must_use]
    pub fn position(&self, span: Span) -> Option<Position> {
        self.position_by(span, |_| true)
    }

    /// Position for `__LINE__` and `__FILE__`, which line marks of another preprocessor do not change.
    #[must_use]
    pub fn position_in_program(&self, span: Span) -> Option<Position> {
        self.position_by(span, |mark| mark.followed)
    }

    fn position_by(&self, span: Span, concerns: impl Fn(&Mark) -> bool) -> Option<Position> {
        let file = self.file_at(span.start)?;
        let offset = span.start - file.base;
        let line = file.line_at(offset);
        let before = file.text.get(file.line_starts[line] as usize..offset as usize)?;
        let marks = &file.marks[..file.marks.partition_point(|mark| mark.from as usize <= line)];
        let mut marks = marks.iter().rev().filter(|mark| concerns(mark)).peekable();
        let last = marks.peek().copied();
        let named = marks.find_map(|mark| mark.name.as_ref());
        let number = last.map_or(line as u32 + 1, |mark| {
            mark.line.saturating_add(line as u32 - mark.from)
        });
        Some(Position {
            file: named.unwrap_or(&file.name).clone(),
            line: number,
            column: before.chars().count() as u32 + 1,
        })
    }

    /// Sets the number of the line after `span`, and its file if one is given. `followed`: the mark is a `#line`, not a
    /// line mark of another preprocessor.
    pub fn mark(&mut self, span: Span, line: u32, name: Option<String>, followed: bool) {
        let after = self.files.partition_point(|f| f.base <= span.start);
        let Some(file) = self.files[..after].last_mut() else {
            return;
        };
        let from = file.line_at(span.start - file.base) as u32 + 1;
        let at = file.marks.partition_point(|mark| mark.from < from);
        // The file may have been read before.
        file.marks.truncate(at);
        file.marks.push(Mark {
            from,
            line,
            name,
            followed,
        });
    }

    /// Line on which `span` starts in its file, and its first byte in this line, both from 0.
    #[must_use]
    pub fn line_and_column(&self, span: Span) -> (u32, u32) {
        let Some(file) = self.file_at(span.start) else {
            return (0, 0);
        };
        let offset = span.start - file.base;
        let line = file.line_at(offset);
        (line as u32, offset - file.line_starts[line])
    }

    /// The whole line on which `span` starts, without its line end.
    #[must_use]
    pub fn line(&self, span: Span) -> Option<&str> {
        let file = self.file_at(span.start)?;
        let line = file.line_at(span.start - file.base);
        let rest = &file.text[file.line_starts[line] as usize..];
        Some(rest.lines().next().unwrap_or(""))
    }

    /// Comment lines directly before the line of `span`, and the text from this line on, to the end of the file.
    #[must_use]
    pub(crate) fn around(&self, span: Span) -> (String, &str) {
        let Some(file) = self.file_at(span.start) else {
            return (String::new(), "");
        };
        let line = file.line_at(span.start - file.base);
        let from = file.line_starts[line] as usize;
        let mut comment: Vec<&str> = file.text[..from]
            .lines()
            .rev()
            .map(str::trim)
            .take_while(|l| is_comment(l))
            .collect();
        comment.reverse();
        (comment.join("\n"), &file.text[from..])
    }

    /// The text that `span` covers, within one file.
    #[must_use]
    pub fn snippet(&self, span: Span) -> &str {
        let Some(file) = self.file_at(span.start) else {
            return "";
        };
        let (start, end) = (
            (span.start - file.base) as usize,
            span.end.saturating_sub(file.base) as usize,
        );
        file.text.get(start..end.min(file.text.len())).unwrap_or("")
    }
}

/// True if a line looks like a part of a comment.
fn is_comment(line: &str) -> bool {
    ["//", "/*", "*"].iter().any(|start| line.starts_with(start)) || line.ends_with("*/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_counts_lines_and_characters_from_one() {
        let mut map = SourceMap::default();
        map.add("a.p4", "x\n".to_owned()).unwrap();
        let b = map.add("b.p4", "é\n  ü y\n".to_owned()).unwrap();
        let at = map.base(b) + "é\n  ü ".len() as u32;
        let span = Span { start: at, end: at + 1 };
        assert_eq!(map.position(span).unwrap().to_string(), "b.p4:2:5");
        assert_eq!(map.line(span), Some("  ü y"));
        assert_eq!(map.snippet(span), "y");
    }

    #[test]
    fn the_default_span_is_nowhere() {
        let mut map = SourceMap::default();
        map.add("a.p4", "x".to_owned()).unwrap();
        assert_eq!(map.position(Span::default()), None);
    }
}
