//! Shortens finds.

/// Removes all lines that a find does not need: first half of them at a time, in the end single lines.
///
/// # Errors
/// Those of `is_find`, which returns whether a text is still a find.
pub fn shorten<E>(find: &[u8], mut is_find: impl FnMut(&[u8]) -> Result<bool, E>) -> Result<Vec<u8>, E> {
    let mut lines: Vec<&[u8]> = find.split_inclusive(|&byte| byte == b'\n').collect();
    let mut count = lines.len() / 2;
    while count > 0 {
        let mut at = 0;
        while at < lines.len() {
            let (before, rest) = lines.split_at(at);
            let shorter = [before, &rest[count.min(rest.len())..]].concat();
            if is_find(&shorter.concat())? {
                lines = shorter;
            } else {
                at += count;
            }
        }
        count /= 2;
    }
    Ok(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_that_a_find_needs_are_left() {
        let find = "a\nb\nc\nd\ne\nf\ng";
        let is_find = |text: &[u8]| Ok::<_, ()>([b'b', b'g'].iter().all(|line| text.contains(line)));
        assert_eq!(shorten(find.as_bytes(), is_find), Ok(b"b\ng".to_vec()));
    }
}
