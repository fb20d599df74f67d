//! Creates new texts from existing ones.

use rand::Rng;
use rand::seq::IndexedRandom;

/// Numbers at the limits of types.
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "255",
    "256",
    "511",
    "65535",
    "65536",
    "2147483647",
    "4294967295",
    "18446744073709551616",
];
const LONGEST: usize = 1 << 16;

/// The ranges of words, numbers and single signs.
fn tokens(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let kind = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'\\' => 1,
        _ => 2,
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let of = kind(text[at]);
        let mut end = at + 1;
        while of != 2 && end < text.len() && kind(text[end]) != 2 {
            end += 1;
        }
        found.push(at..end);
        at = end;
    }
    found
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

fn replace(text: &mut Vec<u8>, range: std::ops::Range<usize>, with: &[u8]) {
    text.splice(range, with.iter().copied());
}

/// Makes one to eight small changes to `text`. Words and lines may come from `others`.
pub fn mutate(random: &mut impl Rng, text: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..random.random_range(1..=8) {
        change(random, &mut text, others);
    }
    text.truncate(LONGEST);
    text
}

fn change(random: &mut impl Rng, text: &mut Vec<u8>, others: &[Vec<u8>]) {
    let tokens = tokens(text);
    let Some(token) = tokens.choose(random).cloned() else {
        text.extend_from_slice(others.choose(random).map_or(b"0", |other| other));
        return;
    };
    match random.random_range(0..10) {
        0 => {
            let at = random.random_range(0..text.len());
            text[at] ^= 1 << random.random_range(0..8);
        }
        1 => replace(text, token, &[]),
        2 => {
            let copy = text[token.clone()].to_vec();
            replace(text, token.end..token.end, &copy);
        }
        3 | 4 => {
            let numbers: Vec<_> = tokens
                .into_iter()
                .filter(|token| text[token.start].is_ascii_digit())
                .collect();
            let place = numbers.choose(random).cloned().unwrap_or(token);
            replace(text, place, NUMBERS[random.random_range(0..NUMBERS.len())].as_bytes());
        }
        5 => {
            let other = tokens[random.random_range(0..tokens.len())].clone();
            let word = text[other].to_vec();
            replace(text, token, &word);
        }
        6 => {
            let Some(other) = others.choose(random) else { return };
            let words = self::tokens(other);
            if let Some(word) = words.choose(random) {
                replace(text, token, &other[word.clone()]);
            }
        }
        7 => shuffle_lines(random, text, &[]),
        8 => {
            let Some(other) = others.choose(random) else { return };
            shuffle_lines(random, text, &lines(other));
        }
        _ => {
            // A part of the text is repeated or removed.
            let end = (token.end + random.random_range(0..64)).min(text.len());
            let stretch = text[token.start..end].to_vec();
            let times = random.random_range(0..4);
            replace(text, token.start..end, &stretch.repeat(times));
        }
    }
}

/// Removes, repeats or moves a line, or replaces it by a line of `others`.
fn shuffle_lines(random: &mut impl Rng, text: &mut Vec<u8>, others: &[&[u8]]) {
    let mut lines: Vec<Vec<u8>> = lines(text).into_iter().map(<[u8]>::to_vec).collect();
    let at = random.random_range(0..lines.len());
    let to = random.random_range(0..lines.len());
    match (others.choose(random), random.random_range(0..3)) {
        (Some(other), 0) => lines[at] = other.to_vec(),
        (Some(other), _) => lines.insert(at, other.to_vec()),
        (None, 0) => drop(lines.remove(at)),
        (None, 1) => lines.insert(to, lines[at].clone()),
        (None, _) => lines.swap(at, to),
    }
    *text = lines.concat();
}
