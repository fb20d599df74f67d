//! `@p4runtime_translation_mappings({ {"name", value}, ... })`: pairs of a controller's value and a data plane's value
//! that the program fixes, as in SAI P4 (sonic-net/sonic-pins, sai_p4).

use crate::bytestring::canonical;

/// The controller's value and the data plane's value, as bytes.
pub type Pair = (Vec<u8>, Vec<u8>);

const NAME: &str = "@p4runtime_translation_mappings";

/// The pairs in an annotation; `None` for another annotation.
///
/// # Errors
/// The expected form, and its place.
pub fn pairs(annotation: &str) -> Option<Result<Vec<Pair>, String>> {
    let rest = annotation.strip_prefix(NAME)?;
    if rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_') {
        return None;
    }
    let mut reader = Reader { rest };
    let list = reader.list();
    Some(list.ok_or_else(|| {
        format!(
            "{NAME}({{ {{\"name\", value}}, ... }}) is expected, not '{}'",
            reader.rest.chars().take(40).collect::<String>()
        )
    }))
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn takes(&mut self, mark: char) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(mark) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn list(&mut self) -> Option<Vec<Pair>> {
        let mut pairs = Vec::new();
        let opened = self.takes('(') && self.takes('{');
        opened.then_some(())?;
        while !self.takes('}') {
            self.takes('{').then_some(())?;
            let name = self.value()?;
            self.takes(',').then_some(())?;
            let value = self.value()?;
            self.takes(',');
            self.takes('}').then_some(())?;
            pairs.push((name, value));
            if !self.takes(',') {
                self.takes('}').then_some(())?;
                break;
            }
        }
        (self.takes(')') && self.rest.trim().is_empty()).then_some(pairs)
    }

    /// A string, or a number in any of P4's bases.
    fn value(&mut self) -> Option<Vec<u8>> {
        if self.takes('"') {
            let (text, after) = self.rest.split_once('"')?;
            self.rest = after;
            return Some(text.as_bytes().to_vec());
        }
        let rest = self.rest.trim_start();
        let end = rest
            .find(|next: char| !next.is_ascii_alphanumeric() && next != '_')
            .unwrap_or(rest.len());
        let (digits, after) = rest.split_at(end);
        let digits = digits.replace('_', "").to_ascii_lowercase();
        let number = match digits.get(..2) {
            Some("0x") => u128::from_str_radix(&digits[2..], 16),
            Some("0b") => u128::from_str_radix(&digits[2..], 2),
            Some("0o") => u128::from_str_radix(&digits[2..], 8),
            _ => digits.parse(),
        };
        let number = number.ok()?;
        self.rest = after;
        Some(canonical(&number.to_be_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_with_and_without_a_last_comma() {
        let read = |text| pairs(text).expect("the annotation");
        let default = (b"".to_vec(), vec![0]);
        assert_eq!(
            read(r#"@p4runtime_translation_mappings({{"",0},})"#),
            Ok(vec![default.clone()])
        );
        let two = vec![default, (b"CPU".to_vec(), vec![1, 0xfe])];
        assert_eq!(
            read(r#"@p4runtime_translation_mappings({ { "" , 0 }, {"CPU", 0x1_fe} })"#),
            Ok(two)
        );
        let numbers = vec![(vec![0xff, 0xff, 0xff, 0xfd], vec![64])];
        assert_eq!(read("@p4runtime_translation_mappings({{0xfffffffd, 64}})"), Ok(numbers));
    }

    #[test]
    fn other_annotations_are_none_and_malformed_ones_are_reported() {
        assert_eq!(pairs("@p4runtime_translation_mappings_of(1)"), None);
        assert_eq!(pairs("@brief(\"x\")"), None);
        for wrong in [
            "",
            "()",
            "({)",
            "({{1}})",
            "({{\"a\", \"b\", 2}})",
            "({{\"a, 1}})",
            "({{1,2}}) x",
            "({{1,-2}})",
        ] {
            let read = pairs(&format!("@p4runtime_translation_mappings{wrong}"));
            assert!(matches!(read, Some(Err(_))), "{wrong}: {read:?}");
        }
    }
}
