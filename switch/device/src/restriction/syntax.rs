//! The parser: from the text of a restriction to its syntax tree.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use num_bigint::BigInt;

/// Deepest nesting of parentheses and unary operators. It limits the recursion of the code that walks the tree.
const MAX_DEPTH: usize = 64;

/// An expression and its place in the text.
#[derive(Debug)]
pub struct Node {
    pub kind: Kind,
    pub span: Range<usize>,
}

#[derive(Debug)]
pub enum Kind {
    Bool(bool),
    Number(BigInt),
    /// A field of the key, or a parameter.
    Name(String),
    /// `::priority`.
    Attribute(String),
    /// `field::part`.
    Part(Box<Node>, String),
    Not(Box<Node>),
    Negate(Box<Node>),
    /// `&&`, and `;` in parentheses.
    All(Vec<Node>),
    Any(Vec<Node>),
    Implies(Box<Node>, Box<Node>),
    Compare(Comparison, Box<Node>, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// If one begins with another, the longer one comes first.
const PUNCTUATION: [&str; 17] = [
    "&&", "||", "->", "::", "==", "!=", ">=", "<=", "!", "(", ")", ">", "<", ".", ";", "-", "'",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Number(&'a str),
    /// Text in single quotes.
    Quoted(&'a str),
    Punctuation(&'static str),
}

/// Parses the clauses of a restriction; `;` separates them.
///
/// # Errors
/// The fault, and what would be right.
pub fn parse(text: &str) -> Result<Vec<Node>, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        text,
        tokens: &tokens,
        at: 0,
        depth: 0,
    };
    let mut clauses = vec![parser.implication()?];
    while parser.take(";") {
        if parser.peek().is_none() {
            break;
        }
        clauses.push(parser.implication()?);
    }
    match parser.peek() {
        None => Ok(clauses),
        Some(_) => Err(parser.expected("an operator or ';'")),
    }
}

/// The text with blanks in place of comments, so that positions stay the same.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let (before, comment) = rest.split_at(start);
        let length = if comment.starts_with("//") {
            comment.find(['\n', '\r']).unwrap_or(comment.len())
        } else {
            comment[2..].find("*/").map_or(comment.len(), |end| end + 4)
        };
        plain.push_str(before);
        plain.extend(std::iter::repeat_n(' ', length));
        rest = &comment[length..];
    }
    plain + rest
}

fn tokens(text: &str) -> Result<Vec<(Token<'_>, Range<usize>)>, String> {
    let plain = without_comments(text);
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(next) = plain[at..].chars().next() {
        let rest = &plain[at..];
        let run = |part: fn(char) -> bool| rest.find(|c| !part(c)).unwrap_or(rest.len());
        let token = |length: usize| &text[at..at + length];
        let length = if next.is_whitespace() {
            at += next.len_utf8();
            continue;
        } else if next.is_ascii_alphabetic() || next == '_' {
            let length = run(|c| c.is_ascii_alphanumeric() || c == '_');
            tokens.push((Token::Word(token(length)), at..at + length));
            length
        } else if next.is_ascii_digit() {
            let length = run(|c| c.is_ascii_alphanumeric());
            tokens.push((Token::Number(token(length)), at..at + length));
            length
        } else if next == '\'' {
            let inner = rest[1..]
                .find('\'')
                .ok_or("a string without an end; \"'\" is missing")?;
            tokens.push((Token::Quoted(&text[at + 1..at + 1 + inner]), at..at + inner + 2));
            inner + 2
        } else {
            let mark = PUNCTUATION.into_iter().find(|mark| rest.starts_with(mark));
            let mark = mark.ok_or_else(|| format!("'{next}' is not part of the language"))?;
            tokens.push((Token::Punctuation(mark), at..at + mark.len()));
            mark.len()
        };
        at += length;
    }
    Ok(tokens)
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [(Token<'a>, Range<usize>)],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<Token<'_>> {
        self.tokens.get(self.at).map(|(token, _)| *token)
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Punctuation(found)) if found == mark);
        self.at += usize::from(found);
        found
    }

    fn expected(&self, what: &str) -> String {
        match self.tokens.get(self.at) {
            Some((_, span)) => format!("expected {what}, found '{}'", &self.text[span.clone()]),
            None => format!("expected {what}, found the end"),
        }
    }

    /// The position where the current token begins.
    fn start(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |(_, span)| span.start)
    }

    /// The node from `start` to the end of the previous token.
    fn node(&self, start: usize, kind: Kind) -> Node {
        let end = self.tokens[..self.at].last().map_or(start, |(_, span)| span.end);
        Node { kind, span: start..end }
    }

    fn implication(&mut self) -> Result<Node, String> {
        let start = self.start();
        let left = self.disjunction()?;
        if !self.take("->") {
            return Ok(left);
        }
        let right = self.disjunction()?;
        if matches!(self.peek(), Some(Token::Punctuation("->"))) {
            return Err("'->' after '->'; parentheses say which comes first".to_owned());
        }
        Ok(self.node(start, Kind::Implies(Box::new(left), Box::new(right))))
    }

    fn disjunction(&mut self) -> Result<Node, String> {
        let start = self.start();
        let mut parts = vec![self.conjunction()?];
        while self.take("||") {
            parts.push(self.conjunction()?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => self.node(start, Kind::Any(parts)),
        })
    }

    fn conjunction(&mut self) -> Result<Node, String> {
        let start = self.start();
        let mut parts = vec![self.comparison()?];
        while self.take("&&") {
            parts.push(self.comparison()?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => self.node(start, Kind::All(parts)),
        })
    }

    fn comparison(&mut self) -> Result<Node, String> {
        let start = self.start();
        let left = self.unary()?;
        let operator = COMPARISONS.into_iter().find(|(mark, _)| self.take(mark));
        let Some((_, operator)) = operator else { return Ok(left) };
        let right = self.unary()?;
        if COMPARISONS.into_iter().any(|(mark, _)| self.take(mark)) {
            self.at -= 1;
            return Err(self.expected("'&&' between two comparisons, or parentheses"));
        }
        Ok(self.node(start, Kind::Compare(operator, Box::new(left), Box::new(right))))
    }

    fn unary(&mut self) -> Result<Node, String> {
        if self.depth == MAX_DEPTH {
            return Err(format!("nested more than {MAX_DEPTH} levels deep"));
        }
        self.depth += 1;
        let start = self.start();
        let node = if self.take("!") {
            let inner = self.unary()?;
            self.node(start, Kind::Not(Box::new(inner)))
        } else if self.take("-") {
            let inner = self.unary()?;
            self.node(start, Kind::Negate(Box::new(inner)))
        } else {
            let mut node = self.primary()?;
            if self.take("::") {
                let part = self.word("'value', 'mask', 'prefix_length', 'low' or 'high'")?;
                node = self.node(start, Kind::Part(Box::new(node), part));
            }
            node
        };
        self.depth -= 1;
        Ok(node)
    }

    fn word(&mut self, what: &str) -> Result<String, String> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let word = word.to_owned();
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn primary(&mut self) -> Result<Node, String> {
        let start = self.start();
        if self.take("(") {
            return self.parentheses(start);
        }
        if self.take("::") {
            let attribute = self.word("'priority'")?;
            return Ok(self.node(start, Kind::Attribute(attribute)));
        }
        let kind = match self.peek() {
            Some(Token::Number(digits)) => Kind::Number(number(digits)?),
            Some(Token::Word(word @ ("ipv4" | "ipv6" | "mac")))
                if matches!(self.tokens.get(self.at + 1), Some((Token::Punctuation("("), _))) =>
            {
                let Some((Token::Quoted(address), _)) = self.tokens.get(self.at + 2) else {
                    self.at += 2;
                    return Err(self.expected("an address in single quotes"));
                };
                let value = address_value(word, address)?;
                self.at += 3;
                if !self.take(")") {
                    return Err(self.expected("')'"));
                }
                return Ok(self.node(start, Kind::Number(value)));
            }
            Some(Token::Word("true")) => Kind::Bool(true),
            Some(Token::Word("false")) => Kind::Bool(false),
            Some(Token::Word(word)) => {
                let mut name = word.to_owned();
                self.at += 1;
                while self.take(".") {
                    name = format!("{name}.{}", self.word("a name after '.'")?);
                }
                return Ok(self.node(start, Kind::Name(name)));
            }
            _ => return Err(self.expected("a name, a number or '('")),
        };
        self.at += 1;
        Ok(self.node(start, kind))
    }

    fn parentheses(&mut self, start: usize) -> Result<Node, String> {
        let mut parts = vec![self.implication()?];
        while self.take(";") {
            parts.push(self.implication()?);
        }
        if !self.take(")") {
            return Err(self.expected("')'"));
        }
        let kind = if parts.len() == 1 {
            parts.remove(0).kind
        } else {
            Kind::All(parts)
        };
        Ok(self.node(start, kind))
    }
}

fn number(text: &str) -> Result<BigInt, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16),
        Some("0o") => (&lower[2..], 8),
        Some("0b") => (&lower[2..], 2),
        Some("0d") => (&lower[2..], 10),
        _ => (&lower[..], 10),
    };
    BigInt::parse_bytes(digits.as_bytes(), radix).ok_or_else(|| format!("'{text}' is not a number"))
}

fn address_value(kind: &str, address: &str) -> Result<BigInt, String> {
    let bytes = match kind {
        "ipv4" => address
            .parse::<Ipv4Addr>()
            .ok()
            .map(|address| address.octets().to_vec()),
        "ipv6" => address
            .parse::<Ipv6Addr>()
            .ok()
            .map(|address| address.octets().to_vec()),
        _ => mac(address),
    };
    let bytes = bytes.ok_or_else(|| format!("'{address}' is not an address of kind {kind}"))?;
    Ok(BigInt::from_bytes_be(num_bigint::Sign::Plus, &bytes))
}

/// A MAC address: six pairs of hexadecimal digits, separated by colons.
fn mac(address: &str) -> Option<Vec<u8>> {
    let pairs = address.split(':').map(|pair| {
        let digits = pair.len() == 2 && pair.bytes().all(|digit| digit.is_ascii_hexdigit());
        digits.then(|| u8::from_str_radix(pair, 16).ok()).flatten()
    });
    let bytes: Option<Vec<u8>> = pairs.collect();
    bytes.filter(|bytes| bytes.len() == 6)
}
