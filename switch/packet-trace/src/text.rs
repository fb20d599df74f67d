//! Events as text, in the style of BMv2's log.
//!
//! Facts come from behavioral-model (`src/bm_sim/logger.cpp`, `parser.cpp`, `match_tables.cpp`,
//! `targets/simple_switch`). BMv2's log does not have queues, changes of fields, and values of extracted headers.

use p4sched_dataplane::{Data, Event, EventKind, Loss, Matched, Named, Number, Source};

/// The level of a line: BMv2's levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Source, matches and destination of the packet.
    Debug,
    /// Each statement and its effects.
    Trace,
}

/// Amount of detail in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Lines of a higher level are left out.
    pub detail: Detail,
    /// The number of bytes of each frame that are shown.
    pub data_bytes: usize,
}

/// A line of the log, without its timestamp. The text may continue in further lines, which begin with `* `.
pub type Line = (Detail, String);

/// The lines of an event.
pub fn lines(event: &Event, options: TextOptions) -> Vec<Line> {
    let mut lines = match &event.what {
        EventKind::Received { port, data, .. } => {
            let text = format!("Processing packet received on port {port}");
            vec![debug(with_data(text, data, options))]
        }
        EventKind::Reentered { .. } => vec![debug("Processing recirculated packet")],
        EventKind::Transmitted { port, bytes, data } => {
            let text = format!("Transmitting packet of size {bytes} out of port {port}");
            vec![debug(with_data(text, data, options))]
        }
        EventKind::Enqueued { .. }
        | EventKind::Dequeued { .. }
        | EventKind::Cloned { .. }
        | EventKind::Resubmitted {}
        | EventKind::Recirculated {}
        | EventKind::Multicast { .. }
        | EventKind::Copied { .. }
        | EventKind::Digest { .. }
        | EventKind::Dropped { .. } => vec![debug(switch(&event.what))],
        EventKind::Table { .. } | EventKind::Action { .. } | EventKind::Condition { .. } => {
            match_action(&event.what, options)
        }
        EventKind::Statement { .. }
        | EventKind::Changed { .. }
        | EventKind::Validity { .. }
        | EventKind::RegisterRead { .. }
        | EventKind::RegisterWritten { .. }
        | EventKind::Counted { .. } => vec![(Detail::Trace, statement(&event.what))],
        EventKind::Log { message } => vec![debug(message)],
        EventKind::AssertionFailed {} => vec![debug("Assert error: the condition does not hold")],
        EventKind::ControlStarted { control } => vec![debug(format!("Pipeline '{control}': start"))],
        EventKind::ControlEnded { control } => vec![debug(format!("Pipeline '{control}': end"))],
        EventKind::Deparsed { headers, bytes } => {
            let headers = headers.iter();
            let headers = headers.map(|header| debug(format!("Deparsing header '{header}'")));
            let mut lines = vec![debug("Deparser 'deparser': start")];
            lines.extend(headers);
            lines.push(debug(format!("Deparser 'deparser': end, {}", counted(*bytes, "byte"))));
            lines
        }
        _ => parsing(&event.what, options),
    };
    lines.retain(|(detail, _)| *detail <= options.detail);
    lines
}

fn debug(text: impl Into<String>) -> Line {
    (Detail::Debug, text.into())
}

fn with_data(text: String, data: &Data, options: TextOptions) -> String {
    let shown = &data.0[..data.0.len().min(options.data_bytes)];
    match shown {
        [] => text,
        shown => format!("{text}\n* {}", Data(shown.to_vec())),
    }
}

fn place(source: &Source) -> String {
    format!("{}({})", source.file, source.line)
}

fn named(values: &[Named]) -> String {
    let values = values.iter().map(|named| format!("{}: {}", named.name, named.value));
    values.collect::<Vec<_>>().join(", ")
}

fn below(values: &[Named]) -> String {
    let longest = values.iter().map(|named| named.name.len()).max().unwrap_or(0);
    let line = |named: &Named| format!("\n* {:longest$} : {}", named.name, named.value);
    values.iter().map(line).collect()
}

fn parsing(what: &EventKind, options: TextOptions) -> Vec<Line> {
    match what {
        EventKind::ParserStarted { parser } => vec![debug(format!("Parser '{parser}': start"))],
        EventKind::State { parser, state } => vec![debug(format!("Parser '{parser}' entering state '{state}'"))],
        EventKind::Extracted { header, fields, .. } => {
            let fields = match options.detail {
                Detail::Debug => String::new(),
                Detail::Trace => below(fields),
            };
            vec![debug(format!("Extracting header '{header}'{fields}"))]
        }
        EventKind::Advanced { bytes } => vec![debug(format!("Going over {}", counted(*bytes, "byte")))],
        EventKind::Selected { state, key: None, .. } => {
            let text = format!("Parser state '{state}' has no switch, going to default next state");
            vec![debug(text)]
        }
        EventKind::Selected {
            state, key: Some(key), ..
        } => vec![debug(format!("Parser state '{state}': key is {key}"))],
        EventKind::ParserFailed { error } => vec![debug(format!("Exception while parsing: {error}"))],
        EventKind::ParserEnded { parser, bytes } => vec![
            (Detail::Trace, format!("Bytes parsed: {bytes}")),
            debug(format!("Parser '{parser}': end")),
        ],
        EventKind::Verified { field, right } => vec![debug(format!("Verifying checksum '{field}': {right}"))],
        _ => Vec::new(),
    }
}

fn match_action(what: &EventKind, options: TextOptions) -> Vec<Line> {
    match what {
        EventKind::Condition {
            condition,
            source,
            holds,
        } => {
            let text = match source {
                Some(source) => format!("{} Condition \"{}\"", place(source), source.text),
                None => "Condition".to_owned(),
            };
            match condition {
                Some(name) => vec![debug(format!("{text} ({name}) is {holds}"))],
                None => vec![(Detail::Trace, format!("{text} is {holds}"))],
            }
        }
        EventKind::Table { table, key, entry, .. } => {
            let mut lines = vec![debug(format!("Applying table '{table}'"))];
            if !key.is_empty() {
                lines.push(debug(format!("Looking up key:{}", below(key))));
            }
            lines.push(debug(match entry {
                Some(entry) => format!(
                    "Table '{table}': hit with handle {}{}",
                    entry.handle,
                    matched(entry, options)
                ),
                None => format!("Table '{table}': miss"),
            }));
            lines
        }
        EventKind::Action {
            action,
            arguments,
            group,
            member,
        } => {
            let mut lines = Vec::new();
            if let Some(member) = member {
                let group = group.map_or(String::new(), |group| format!(" of group {group}"));
                lines.push(debug(format!("Choosing member {member}{group}")));
            }
            lines.push(debug(format!("Action entry is {action} - {}", named(arguments))));
            lines.push((Detail::Trace, format!("Action {action}")));
            lines
        }
        _ => Vec::new(),
    }
}

fn matched(entry: &Matched, options: TextOptions) -> String {
    if options.detail < Detail::Trace {
        return String::new();
    }
    let priority = match entry.priority {
        0 => String::new(),
        priority => format!("\n* priority {priority}"),
    };
    format!("\n* {}{priority}", entry.key.join(", "))
}

fn statement(what: &EventKind) -> String {
    let or_none = |value: &Option<Number>| {
        value
            .as_ref()
            .map_or_else(|| "none: no such cell".to_owned(), Number::to_string)
    };
    match what {
        EventKind::Statement { source } => format!("{} Primitive {}", place(source), source.text),
        EventKind::Changed { field, before, after } => format!("Field '{field}': {before} -> {after}"),
        EventKind::Validity { header, valid } => match valid {
            true => format!("Header '{header}' is valid"),
            false => format!("Header '{header}' is not valid any more"),
        },
        EventKind::RegisterRead { register, index, value } => {
            format!(
                "Read register '{register}' at index {index} read value {}",
                or_none(value)
            )
        }
        EventKind::RegisterWritten { register, index, value } => {
            format!(
                "Wrote register '{register}' at index {index} with value {}",
                or_none(value)
            )
        }
        EventKind::Counted { counter, index } => format!("Updated counter '{counter}' at index {index}"),
        _ => String::new(),
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn switch(what: &EventKind) -> String {
    match what {
        EventKind::Enqueued { port, queue, length } => {
            format!(
                "Egress port is {port}: queue {queue} holds {} now",
                counted(*length as usize, "packet")
            )
        }
        EventKind::Dequeued {
            port,
            queue,
            length,
            waited_ns,
        } => format!(
            "Leaving queue {queue} of port {port} after {:.1} us: it holds {} now",
            *waited_ns as f64 / 1000.0,
            counted(*length as usize, "packet")
        ),
        EventKind::Cloned { at, session, known } => match known {
            true => format!("Cloning packet at {at}, session {session}"),
            false => format!("Cloning packet at {at}: there is no session {session}"),
        },
        EventKind::Resubmitted {} => "Resubmitting packet".to_owned(),
        EventKind::Recirculated {} => "Recirculating packet".to_owned(),
        EventKind::Multicast { group } => format!("Multicast requested for packet, group {group}"),
        EventKind::Copied { to, port, instance } => {
            format!("Replicating packet on port {port}: copy {to}, instance {instance}")
        }
        EventKind::Digest { digest } => format!("Sending digest '{digest}'"),
        EventKind::Dropped { why } => loss(*why).to_owned(),
        _ => String::new(),
    }
}

fn loss(why: Loss) -> &'static str {
    match why {
        Loss::Ingress => "Dropping packet at the end of ingress",
        Loss::Egress => "Dropping packet at the end of egress",
        Loss::ParserError => "Dropping packet: the parser stopped at an error, and ingress does not look at errors",
        Loss::EmptyGroup => "Dropping packet: the multicast group has no members",
        Loss::NoSuchQueue => "Priority out of range, dropping packet",
        Loss::Resubmissions => "Dropping packet: it was resubmitted 16 times",
        Loss::OtherProgram => "Dropping packet: another program was loaded meanwhile",
        Loss::QueueFull => "Dropping packet: the queue is full",
        Loss::PushedOut => "Dropping packet: the full queue gave it up for another packet",
        Loss::CloneDepth => "Dropping packet: it is a clone of a clone, 16 times over",
        Loss::Recirculation => "Dropping packet: too many packets recirculate",
        Loss::LinkFull => "Dropping packet: the link's delay holds no more",
    }
}
