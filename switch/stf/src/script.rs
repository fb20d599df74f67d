//! The parser of scripts.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The line number in the file, from 1.
    pub number: usize,
    pub statement: Statement,
}

/// The statement in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// Adds an entry to a table; the entry may get a name.
    Add {
        table: String,
        /// The largest wins.
        priority: Option<i32>,
        /// Fields and their values.
        key: Vec<(String, String)>,
        action: EntryAction,
        /// The name that `remove` and `check_counter` use for the entry.
        handle: Option<String>,
    },
    /// Sets the default action of a table.
    SetDefault {
        table: String,
        action: Call,
    },
    /// Adds a member to an action profile.
    Member {
        profile: String,
        /// The script's number of the member.
        member: u32,
        action: Call,
    },
    /// Adds a group to an action profile.
    Group {
        profile: String,
        /// The script's number of the group.
        group: u32,
        /// The script's numbers of the group's members.
        members: Vec<u32>,
    },
    /// Removes all entries, or the entry with this name.
    Remove(Option<String>),
    /// Sends a frame to a port.
    Packet {
        port: u16,
        frame: Vec<u8>,
    },
    /// Expects a frame from a port. Without a pattern, any number of any frames may leave.
    Expect {
        port: u16,
        pattern: Option<Pattern>,
    },
    /// Processes all events that are due.
    Wait,
    NoPacket,
    /// Compares the value of a counter.
    CheckCounter {
        /// The counter, or the table of a direct counter.
        counter: String,
        /// The cell, or the name of an entry.
        place: String,
        /// Whether to compare bytes instead of packets.
        bytes: bool,
        /// `==`, `!=`, `<`, `<=`, `>` or `>=`.
        condition: String,
        /// The value to compare with.
        value: u64,
    },
    /// The words of a `simple_switch_CLI` command.
    Command(Vec<String>),
}

/// The action of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryAction {
    Action(Call),
    /// The action of a member of the table's profile, by the script's number.
    Member(u32),
    /// The action of a group of members, by the script's number.
    Group(u32),
}

/// An action and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    /// Values with the names of their parameters; values without names are in the order of the parameters.
    pub arguments: Vec<(Option<String>, String)>,
}

/// A pattern of a frame: hexadecimal digits, `None` for any digit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub nibbles: Vec<Option<u8>>,
    /// Whether the frame must end after the pattern.
    pub ends: bool,
}

/// The commands of `simple_switch_CLI` that scripts may use.
const COMMANDS: [&str; 17] = [
    "mirroring_add",
    "mirroring_add_mc",
    "mirroring_delete",
    "mirroring_get",
    "mc_mgrp_create",
    "mc_node_create",
    "mc_node_update",
    "mc_node_associate",
    "counter_read",
    "counter_write",
    "counter_reset",
    "register_read",
    "register_write",
    "register_reset",
    "meter_get_rates",
    "meter_set_rates",
    "meter_array_set_rates",
];

/// # Errors
/// The line number and the problem.
pub fn parse(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.split_once('#').map_or(line, |(before, _)| before).trim();
        if line.is_empty() {
            continue;
        }
        let statement = statement(line).map_err(|problem| format!("line {number}: {problem}"))?;
        lines.push(Line { number, statement });
    }
    Ok(lines)
}

fn statement(line: &str) -> Result<Statement, String> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word.to_lowercase().as_str() {
        "add" => add(rest),
        "setdefault" => {
            let (table, action) = rest
                .split_once(char::is_whitespace)
                .ok_or("setdefault TABLE ACTION(...)")?;
            Ok(Statement::SetDefault {
                table: table.to_owned(),
                action: call(action)?,
            })
        }
        "member" => {
            const FORM: &str = "member PROFILE NUMBER ACTION(...)";
            let mut words = rest.splitn(3, char::is_whitespace);
            let (profile, member, action) = (words.next(), words.next(), words.next());
            Ok(Statement::Member {
                profile: profile.ok_or(FORM)?.to_owned(),
                member: number(member.ok_or(FORM)?)?,
                action: call(action.ok_or(FORM)?)?,
            })
        }
        "group" => {
            const FORM: &str = "group PROFILE NUMBER MEMBER...";
            let mut words = rest.split_whitespace();
            let (profile, group) = (words.next(), words.next());
            Ok(Statement::Group {
                profile: profile.ok_or(FORM)?.to_owned(),
                group: number(group.ok_or(FORM)?)?,
                members: words.map(number).collect::<Result<_, _>>()?,
            })
        }
        "remove" => Ok(Statement::Remove(match rest {
            "" | "all" => None,
            handle => Some(handle.trim_start_matches('$').to_owned()),
        })),
        "packet" => {
            let (port, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let nibbles = nibbles(data)?;
            let bytes = nibbles.chunks(2).map(|pair| match pair {
                [Some(high), Some(low)] => Ok(high << 4 | low),
                _ => Err("a packet has whole bytes, and no '*'"),
            });
            Ok(Statement::Packet {
                port: port_of(port)?,
                frame: bytes.collect::<Result<_, _>>()?,
            })
        }
        "expect" => expect(rest),
        "wait" => Ok(Statement::Wait),
        "no_packet" => Ok(Statement::NoPacket),
        "check_counter" => check_counter(rest),
        command if COMMANDS.contains(&command) => {
            let words = std::iter::once(command).chain(rest.split_whitespace());
            Ok(Statement::Command(words.map(str::to_owned).collect()))
        }
        other => Err(format!(
            "'{other}' is not a statement; there are add, setdefault, member, group, remove, packet, expect, wait, no_packet, \
             check_counter, {}",
            COMMANDS.join(", ")
        )),
    }
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("'{word}' is not a number"))
}

/// Parses a port of v1model, which has nine bits.
fn port_of(word: &str) -> Result<u16, String> {
    let port = word.parse().ok().filter(|port| *port < 512);
    port.ok_or_else(|| format!("'{word}' is not a port number: ports are 0 to 511"))
}

fn nibbles(data: &str) -> Result<Vec<Option<u8>>, String> {
    let digits = data.chars().filter(|character| !character.is_whitespace());
    let digits = digits.map(|character| match character {
        '*' => Ok(None),
        digit => match digit.to_digit(16) {
            Some(value) => Ok(Some(value as u8)),
            None => Err(format!("'{digit}' is not a hexadecimal digit")),
        },
    });
    digits.collect()
}

fn expect(rest: &str) -> Result<Statement, String> {
    let (port, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (port, data) = match port.strip_suffix('$') {
        Some(port) => (port, "$"),
        None => (port, data.trim()),
    };
    let (data, ends) = match data.strip_suffix('$') {
        Some(data) => (data, true),
        None => (data, false),
    };
    let nibbles = nibbles(data)?;
    Ok(Statement::Expect {
        port: port_of(port)?,
        pattern: (ends || !nibbles.is_empty()).then_some(Pattern { nibbles, ends }),
    })
}

/// `NAME(arg:value, arg:value)`, `NAME(value value)`, `NAME arg=value arg=value`, or `NAME`.
fn call(text: &str) -> Result<Call, String> {
    let text = text.trim();
    let (name, arguments) = match text.split_once('(') {
        Some((name, arguments)) => {
            let inside = arguments.trim_end().strip_suffix(')');
            (name, inside.ok_or_else(|| format!("'{text}' has no ')' at its end"))?)
        }
        None => text.split_once(char::is_whitespace).unwrap_or((text, "")),
    };
    Ok(Call {
        name: name.trim().to_owned(),
        arguments: arguments.split(',').flat_map(argument_list).collect(),
    })
}

/// The arguments of a text without commas. p4c's scripts write `NAME: VALUE`; others write `NAME=VALUE` or only values.
fn argument_list(text: &str) -> Vec<(Option<String>, String)> {
    const COLONS_OF_A_MAC_ADDRESS: usize = 5;
    let named = |(name, value): (&str, &str)| (Some(name.trim().to_owned()), value.trim().to_owned());
    match text.split_once(':') {
        Some(pair) if text.matches(':').count() != COLONS_OF_A_MAC_ADDRESS => vec![named(pair)],
        _ => text
            .split_whitespace()
            .map(|word| word.split_once('=').map_or_else(|| (None, word.to_owned()), named))
            .collect(),
    }
}

/// `group=NUMBER`, `member=NUMBER` or an action.
fn does(text: &str) -> Result<EntryAction, String> {
    match text.trim().split_once('=') {
        Some(("group", group)) => Ok(EntryAction::Group(number(group)?)),
        Some(("member", member)) => Ok(EntryAction::Member(number(member)?)),
        _ => call(text).map(EntryAction::Action),
    }
}

/// `TABLE [PRIORITY] FIELD:VALUE... ACTION(...) [= NAME]`
fn add(rest: &str) -> Result<Statement, String> {
    const FORM: &str = "add TABLE [PRIORITY] FIELD:VALUE... ACTION(PARAMETER:VALUE, ...) [= NAME]";
    let (rest, handle) = match rest.rsplit_once(')') {
        Some((before, behind)) if behind.trim_start().starts_with('=') => {
            let handle = behind.trim_start()[1..].trim().trim_start_matches('$');
            (format!("{before})"), Some(handle.to_owned()))
        }
        _ => (rest.to_owned(), None),
    };
    // The action is the word before the bracket. Its arguments may be separated by blanks.
    let start = match rest.find('(') {
        Some(bracket) => rest[..bracket].trim_end().rfind(char::is_whitespace),
        None => rest.rfind(char::is_whitespace),
    };
    let start = start.ok_or(FORM)?;
    let action = does(&rest[start..])?;
    let mut words = rest[..start].split_whitespace().peekable();
    let table = words.next().ok_or(FORM)?.to_owned();
    let priority = words.peek().and_then(|word| word.parse().ok());
    if priority.is_some() {
        words.next();
    }
    let key = words.map(|word| {
        let (field, value) = word
            .split_once(':')
            .ok_or_else(|| format!("'{word}': a key field is NAME:VALUE"))?;
        Ok((field.to_owned(), value.to_owned()))
    });
    Ok(Statement::Add {
        table,
        priority,
        key: key.collect::<Result<_, String>>()?,
        action,
        handle,
    })
}

/// `NAME(PLACE) [packets|bytes] CONDITION VALUE`
fn check_counter(rest: &str) -> Result<Statement, String> {
    const FORM: &str = "check_counter COUNTER(INDEX) [packets|bytes] CONDITION VALUE";
    let (counter, behind) = rest.split_once('(').ok_or(FORM)?;
    let (place, behind) = behind.split_once(')').ok_or(FORM)?;
    let mut words: Vec<&str> = behind.split_whitespace().collect();
    let bytes = words.first() == Some(&"bytes");
    if bytes || words.first() == Some(&"packets") {
        words.remove(0);
    }
    let [condition, value] = words[..] else {
        return Err(FORM.to_owned());
    };
    Ok(Statement::CheckCounter {
        counter: counter.trim().to_owned(),
        place: place.trim().trim_start_matches('$').to_owned(),
        bytes,
        condition: condition.to_owned(),
        value: value.parse().map_err(|_| format!("'{value}' is not a number"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Statement {
        parse(line).expect("a right line").remove(0).statement
    }

    fn go() -> Call {
        let arguments = [("port", "1"), ("b", "0x2")];
        Call {
            name: "go".to_owned(),
            arguments: arguments
                .map(|(name, value)| (Some(name.to_owned()), value.to_owned()))
                .to_vec(),
        }
    }

    #[test]
    fn arguments_have_names_or_an_order() {
        let values = |values: &[&str]| Call {
            name: "go".to_owned(),
            arguments: values.iter().map(|&value| (None, value.to_owned())).collect(),
        };
        for text in [
            "go(port:1, b:0x2)",
            "go(port : 1,b: 0x2)",
            "go(port=1 b=0x2)",
            "go port=1 b=0x2",
        ] {
            assert_eq!(call(text), Ok(go()), "{text}");
        }
        for text in ["go(1 0x2)", "go(1, 0x2)"] {
            assert_eq!(call(text), Ok(values(&["1", "0x2"])), "{text}");
        }
        assert_eq!(call("go(0a:00:00:00:00:01)"), Ok(values(&["0a:00:00:00:00:01"])));
    }

    #[test]
    fn members_and_groups_have_numbers_of_the_script() {
        let member = Statement::Member {
            profile: "ecmp".to_owned(),
            member: 7,
            action: go(),
        };
        assert_eq!(one("member ecmp 7 go port=1 b=0x2"), member);
        let group = Statement::Group {
            profile: "ecmp".to_owned(),
            group: 1,
            members: vec![7, 8],
        };
        assert_eq!(one("group ecmp 1 7 8"), group);
        let entry = Statement::Add {
            table: "t".to_owned(),
            priority: None,
            key: vec![("f".to_owned(), "0x1".to_owned())],
            action: EntryAction::Group(1),
            handle: None,
        };
        assert_eq!(one("add t f:0x1 group=1"), entry);
    }

    #[test]
    fn an_entry_has_a_key_an_action_and_perhaps_a_priority_and_a_name() {
        let expected = |priority, handle: Option<&str>| Statement::Add {
            table: "ingress.acl".to_owned(),
            priority,
            key: vec![("ip.src".to_owned(), "0x0a****".to_owned())],
            action: EntryAction::Action(go()),
            handle: handle.map(str::to_owned),
        };
        assert_eq!(
            one("add ingress.acl 5 ip.src:0x0a**** go(port:1, b:0x2)"),
            expected(Some(5), None)
        );
        assert_eq!(
            one("add ingress.acl ip.src:0x0a**** go(port:1,b:0x2) = $e1  # why"),
            expected(None, Some("e1"))
        );
    }

    #[test]
    fn a_dollar_ends_a_frame_and_a_star_is_any_half_byte() {
        let pattern = |nibbles: &[Option<u8>], ends| {
            Some(Pattern {
                nibbles: nibbles.to_vec(),
                ends,
            })
        };
        let expect = |port, pattern| Statement::Expect { port, pattern };
        assert_eq!(one("expect 3 A* $"), expect(3, pattern(&[Some(10), None], true)));
        assert_eq!(one("expect 3 0 1"), expect(3, pattern(&[Some(0), Some(1)], false)));
        assert_eq!(one("expect 3"), expect(3, None));
        assert_eq!(one("expect 3$"), expect(3, pattern(&[], true)));
        let packet = Statement::Packet {
            port: 0,
            frame: vec![1, 0xff],
        };
        assert_eq!(one("packet 0 01 fF"), packet);
    }

    #[test]
    fn a_wrong_line_is_reported_with_its_number() {
        for (text, problem) in [
            ("\nfoo 1", "line 2: 'foo' is not a statement"),
            ("packet x 00", "line 1: 'x' is not a port number"),
            ("packet 1 0g", "line 1: 'g' is not a hexadecimal digit"),
            ("packet 1 000", "line 1: a packet has whole bytes"),
            ("add t", "line 1: add TABLE"),
            ("add t f go()", "line 1: 'f': a key field is NAME:VALUE"),
            ("member p x go()", "line 1: 'x' is not a number"),
            ("group p 1 x", "line 1: 'x' is not a number"),
            ("add t f:1 group=x", "line 1: 'x' is not a number"),
            ("check_counter c(0) == x", "line 1: 'x' is not a number"),
        ] {
            let error = parse(text).expect_err("a wrong line");
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
