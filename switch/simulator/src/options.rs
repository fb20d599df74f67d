//! Schemes as options of a command.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use p4sched_schedulers::Scheme;
use serde_json::json;

/// The names of the schemes that a command knows.
pub fn names(known: fn(Scheme) -> bool) -> impl Iterator<Item = &'static str> {
    let schemes = Scheme::ALL.iter().filter(move |scheme| known(**scheme));
    schemes.map(|scheme| scheme.name())
}

/// Reads the name of a scheme that a command knows.
pub fn scheme(known: fn(Scheme) -> bool) -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(names(known)).map(|name| Scheme::named(&name).expect("a possible value"))
}

/// All schemes as the Python side lists them: a line of JSON for each.
pub fn listing() -> String {
    let record = |&scheme: &Scheme| {
        let p4 = scheme.p4();
        let record = json!({
            "name": scheme.name(),
            "program": p4.program,
            "discipline": p4.discipline.name(),
            "ideal": p4.discipline.is_ideal(),
            "rank_field": p4.discipline.rank_field(),
            "table": p4.table,
            "action": p4.action,
            "parameters": p4.parameters,
        });
        format!("{record}\n")
    };
    Scheme::ALL.iter().map(record).collect()
}

/// Whether the program of a scheme knows ranks.
pub fn is_ranked(scheme: Scheme) -> bool {
    scheme.p4().ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listing_has_a_line_for_each_scheme_with_its_parameters_in_order() {
        let listing = listing();
        assert_eq!(listing.lines().count(), Scheme::ALL.len());
        let rifo = r#"{"name":"rifo","program":"rifo","discipline":"fifo","ideal":false,"rank_field":null,"table":"rifo_params","action":"set_rifo","parameters":["capacity_packets","headroom_256","tracking_packets"]}"#;
        assert!(listing.lines().any(|line| line == rifo), "{listing}");
        let pifo = r#"{"name":"pifo","program":"fifo","discipline":"pifo","ideal":true,"rank_field":"meta.rank","#;
        assert!(listing.lines().any(|line| line.starts_with(pifo)), "{listing}");
    }
}
