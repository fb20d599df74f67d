//! Annotations in P4Info: `@NAME`, followed by text.

/// The text after the name, if the annotation has this name.
pub fn body<'a>(annotation: &'a str, name: &str) -> Option<&'a str> {
    let rest = annotation.strip_prefix('@')?.strip_prefix(name)?;
    let whole = !rest.starts_with(|next: char| next.is_ascii_alphanumeric() || "_.".contains(next));
    whole.then(|| rest.trim())
}

/// The text in `("...")`. If there are several strings, as in `("..." "...")`, each is on its own line.
pub fn unquoted(body: &str) -> Option<String> {
    let mut rest = body.strip_prefix('(')?.strip_suffix(')')?.trim();
    let mut lines = Vec::new();
    while !rest.is_empty() {
        let (line, after) = rest.strip_prefix('"')?.split_once('"')?;
        lines.push(line);
        rest = after.trim_start();
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}
