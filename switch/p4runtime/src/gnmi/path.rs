//! Paths of requests and answers.

use std::collections::{BTreeSet, HashMap};

use p4sched_proto::gnmi::{Path, PathElem};
use tonic::Status;

use super::leaves::{LEAVES, Leaf};

/// The models of this switch: names and versions.
pub const MODELS: [(&str, &str); 2] = [("openconfig-interfaces", "2.4.1"), ("openconfig-if-ethernet", "2.6.2")];

/// The containers above each leaf.
const ABOVE: [&str; 2] = ["interfaces", "interface"];
/// The list's key.
const KEY: &str = "name";
/// The most elements of a path. The longest path of a leaf has five.
const MOST_ELEMENTS: usize = 16;
/// Any number of elements, and as a value of a key any value.
const ANY_DEPTH: &str = "...";
/// One element, and as a value of a key any value.
const ANY: &str = "*";

/// What a path selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The name of the interface; `None` selects all.
    pub interface: Option<String>,
    /// Positions in [`LEAVES`].
    pub leaves: Vec<usize>,
    /// The path as text.
    pub text: String,
    /// The elements below an interface, if the path has no wildcard.
    pub below: Option<Vec<String>>,
}

/// What a path of a request selects, together with the prefix of the request.
///
/// # Errors
/// `INVALID_ARGUMENT` for a path that no leaf of this switch matches.
pub fn select(prefix: Option<&Path>, path: &Path) -> Result<Selection, Status> {
    let paths = [prefix, Some(path)];
    let paths = paths.into_iter().flatten();
    let elements: Vec<&PathElem> = paths.clone().flat_map(|path| &path.elem).collect();
    let text = text_of(&elements);
    let wrong = |problem: String| Status::invalid_argument(format!("{text}: {problem}"));
    if paths.clone().any(|path| !path.element.is_empty()) {
        return Err(Status::invalid_argument(
            "a path in 'element' is one of gNMI 0.3; use 'elem' of a later version",
        ));
    }
    if elements.len() > MOST_ELEMENTS {
        return Err(Status::invalid_argument(format!(
            "a path of {} elements; the longest has five",
            elements.len()
        )));
    }
    for origin in paths.map(|path| path.origin.as_str()) {
        if !["", "openconfig"].contains(&origin) && !is_model(origin) {
            return Err(wrong(format!("no origin {origin}; use openconfig or none")));
        }
    }
    let names: Vec<&str> = elements.iter().map(|element| without_model(&element.name)).collect();
    let leaves: Vec<usize> = (0..LEAVES.len()).filter(|&leaf| selects(&names, &full(leaf))).collect();
    if leaves.is_empty() {
        return Err(wrong(no_such_path(&names)));
    }
    let mut interface = None;
    for (element, name) in elements.iter().zip(&names) {
        for (key, value) in &element.key {
            if key != KEY || ![ABOVE[1], ANY].contains(name) {
                return Err(wrong(format!("no key {key}; interface has the key {KEY}")));
            }
            if ![ANY, ANY_DEPTH].contains(&value.as_str()) {
                interface = Some(value.clone());
            }
        }
    }
    let is_exact = interface.is_some() && !names.iter().any(|name| [ANY, ANY_DEPTH].contains(name));
    let below = is_exact.then(|| {
        names[ABOVE.len().min(names.len())..]
            .iter()
            .map(|&name| name.to_owned())
            .collect()
    });
    Ok(Selection {
        interface,
        leaves,
        text,
        below,
    })
}

fn is_model(name: &str) -> bool {
    MODELS.iter().any(|(model, _)| *model == name)
}

/// The name of an element without the name of its model.
fn without_model(name: &str) -> &str {
    match name.split_once(':') {
        Some((model, name)) if is_model(model) => name,
        _ => name,
    }
}

/// The names of a leaf's path from the root on.
fn full(leaf: usize) -> Vec<&'static str> {
    ABOVE.iter().chain(LEAVES[leaf].path).copied().collect()
}

/// Whether these elements select a path: they are its beginning.
fn selects(elements: &[&str], path: &[&str]) -> bool {
    match (elements.split_first(), path.split_first()) {
        (None, _) => true,
        (Some((&ANY_DEPTH, rest)), _) => (0..=path.len()).any(|skipped| selects(rest, &path[skipped..])),
        (Some(_), None) => false,
        (Some((element, rest)), Some((name, below))) => (*element == ANY || element == name) && selects(rest, below),
    }
}

/// Says where a path leaves the tree, and what there is.
fn no_such_path(names: &[&str]) -> String {
    let found = |depth: &usize| (0..LEAVES.len()).any(|leaf| selects(&names[..*depth], &full(leaf)));
    let depth = (0..names.len()).take_while(found).last().unwrap_or(0);
    let children: BTreeSet<&str> = (0..LEAVES.len())
        .map(full)
        .filter(|path| selects(&names[..depth], path))
        .filter_map(|path| path.get(depth).copied())
        .collect();
    let children: Vec<&str> = children.into_iter().collect();
    let above = if depth == 0 { "the root" } else { names[depth - 1] };
    match children.is_empty() {
        true => format!("no {}: {above} is a leaf", names[depth]),
        false => format!("no {}; {above} has {}", names[depth], children.join(", ")),
    }
}

fn text_of(elements: &[&PathElem]) -> String {
    let one = |element: &&PathElem| {
        let mut keys: Vec<_> = element.key.iter().collect();
        keys.sort();
        let keys = keys.into_iter().map(|(key, value)| format!("[{key}={value}]"));
        format!("/{}{}", element.name, keys.collect::<String>())
    };
    match elements.is_empty() {
        true => "/".to_owned(),
        false => elements.iter().map(one).collect(),
    }
}

fn element(name: &str) -> PathElem {
    PathElem {
        name: name.to_owned(),
        key: HashMap::new(),
    }
}

/// The path of an interface.
pub fn of_interface(name: &str) -> Path {
    let mut interface = element(ABOVE[1]);
    interface.key.insert(KEY.to_owned(), name.to_owned());
    Path {
        elem: vec![element(ABOVE[0]), interface],
        ..Path::default()
    }
}

/// The path of a leaf of an interface.
pub fn of_leaf(interface: &str, leaf: &Leaf) -> Path {
    let mut path = of_interface(interface);
    path.elem.extend(leaf.path.iter().map(|name| element(name)));
    path
}

/// The prefix of answers: the target of the request, if it names one.
pub fn answer_prefix(prefix: Option<&Path>) -> Option<Path> {
    let target = prefix.map(|prefix| prefix.target.clone()).unwrap_or_default();
    (!target.is_empty()).then(|| Path {
        target,
        ..Path::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path in the usual notation; it may hold one key.
    fn path(text: &str) -> Path {
        let elem = text.split('/').filter(|part| !part.is_empty()).map(|part| {
            let (name, key) = part.split_once('[').unwrap_or((part, ""));
            let mut element = element(name);
            if let Some((key, value)) = key.trim_end_matches(']').split_once('=') {
                element.key.insert(key.to_owned(), value.to_owned());
            }
            element
        });
        Path {
            elem: elem.collect(),
            ..Path::default()
        }
    }

    fn selected(text: &str) -> (Option<String>, usize) {
        let selection = select(None, &path(text)).expect(text);
        (selection.interface, selection.leaves.len())
    }

    #[test]
    fn a_path_selects_all_leaves_below_it() {
        let s1 = Some("s1".to_owned());
        assert_eq!(selected("/"), (None, LEAVES.len()));
        assert_eq!(selected("/..."), (None, LEAVES.len()));
        assert_eq!(selected("/interfaces/interface/..."), (None, LEAVES.len()));
        assert_eq!(selected("/interfaces/interface[name=s1]"), (s1.clone(), LEAVES.len()));
        assert_eq!(
            selected("/interfaces/interface[name=s1]/state/counters"),
            (s1.clone(), 14)
        );
        assert_eq!(selected("/interfaces/interface[name=...]/state/counters"), (None, 14));
        assert_eq!(selected("/interfaces/*[name=s1]/*/name"), (s1, 2));
        assert_eq!(selected("/interfaces/interface[name=*]/state/oper-status"), (None, 1));
        assert_eq!(selected("/.../oper-status"), (None, 1));
        let named = "/openconfig-interfaces:interfaces/interface/openconfig-if-ethernet:ethernet/state";
        assert_eq!(selected(named), (None, 3));
    }

    #[test]
    fn a_prefix_comes_before_the_path() {
        let prefix = path("/interfaces/interface[name=s1]");
        let selection = select(Some(&prefix), &path("config/enabled")).expect("both make one path");
        assert_eq!(selection.text, "/interfaces/interface[name=s1]/config/enabled");
        assert_eq!(
            (selection.interface.as_deref(), selection.leaves.len()),
            (Some("s1"), 1)
        );
        assert_eq!(selection.below.expect("no wildcards"), ["config", "enabled"]);
    }

    #[test]
    fn an_unknown_path_is_refused_with_the_names_that_there_are() {
        let problem = |text: &str| {
            let status = select(None, &path(text)).expect_err(text);
            assert_eq!(status.code(), tonic::Code::InvalidArgument);
            status.message().to_owned()
        };
        assert_eq!(
            problem("/onos-gnmi-ping"),
            "/onos-gnmi-ping: no onos-gnmi-ping; the root has interfaces"
        );
        assert_eq!(
            problem("/interfaces/interface[name=s1]/stat"),
            "/interfaces/interface[name=s1]/stat: no stat; interface has config, ethernet, name, state"
        );
        assert_eq!(
            problem("/interfaces/interface/name/x"),
            "/interfaces/interface/name/x: no x: name is a leaf"
        );
        assert_eq!(
            problem("/interfaces/interface[id=1]/state"),
            "/interfaces/interface[id=1]/state: no key id; interface has the key name"
        );
        let deep = "/...".repeat(17);
        assert_eq!(problem(&deep), "a path of 17 elements; the longest has five");
        let other = Path {
            origin: "cli".to_owned(),
            ..path("/interfaces")
        };
        let status = select(None, &other).expect_err("no such origin");
        assert_eq!(status.message(), "/interfaces: no origin cli; use openconfig or none");
    }
}
