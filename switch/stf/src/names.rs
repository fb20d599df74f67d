//! Finds objects of a program by their names in scripts: the full name, or an end of it that is unique.

use p4sched_dataplane::{ActionId, KeyField, Pipeline, TableId};

pub fn table(pipeline: &Pipeline, name: &str) -> Result<TableId, String> {
    let tables: Vec<TableId> = pipeline.table_ids().collect();
    one(&tables, |&table| pipeline.table_name(table), name).map_err(|problem| format!("table '{name}': {problem}"))
}

/// The action of a table.
pub fn action(pipeline: &Pipeline, table: TableId, name: &str) -> Result<ActionId, String> {
    let actions: Vec<ActionId> = pipeline.table_actions(table).collect();
    one(&actions, |&action| pipeline.action_name(action), name).map_err(|problem| format!("action '{name}': {problem}"))
}

/// The name of an action profile, and a table that uses it.
pub fn profile(pipeline: &Pipeline, name: &str) -> Result<(String, TableId), String> {
    let profiles: Vec<_> = pipeline.profile_ids().collect();
    let found = one(&profiles, |&profile| pipeline.profile_name(profile), name);
    let profile = found.map_err(|problem| format!("action profile '{name}': {problem}"))?;
    let table = pipeline
        .table_ids()
        .find(|&table| pipeline.table_profile(table) == Some(profile));
    let table = table.ok_or_else(|| format!("action profile '{name}': no table has it"))?;
    Ok((pipeline.profile_name(profile).to_owned(), table))
}

/// The position of a field in a key. `hdr.stack$0.f` means `hdr.stack[0].f`; `h.valid` means `h.$valid$` or
/// `h.isValid()`.
pub fn field(key: &[KeyField], name: &str) -> Result<usize, String> {
    let mut wanted = String::new();
    let mut rest = name;
    while let Some((before, behind)) = rest.split_once('$') {
        let digits = behind.len() - behind.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        if digits == 0 {
            break;
        }
        wanted = format!("{wanted}{before}[{}]", &behind[..digits]);
        rest = &behind[digits..];
    }
    wanted.push_str(rest);
    let validity = wanted
        .strip_suffix(".valid")
        .or_else(|| wanted.strip_suffix(".$valid$"));
    let candidates = [
        Some(wanted.clone()),
        Some(format!("{wanted}$")),
        validity.map(|header| format!("{header}.$valid$")),
        validity.map(|header| format!("{header}.isValid()")),
    ];
    let places: Vec<usize> = (0..key.len()).collect();
    for candidate in candidates.iter().flatten() {
        if let Ok(place) = one(&places, |&place| &key[place].name, candidate) {
            return Ok(place);
        }
    }
    let known: Vec<&str> = key.iter().map(|field| field.name.as_str()).collect();
    Err(format!("no key field '{name}'; there are {}", known.join(", ")))
}

/// The object with this name, or the only one whose name ends with it after a dot.
fn one<'a, T: Copy>(things: &'a [T], name_of: impl Fn(&'a T) -> &'a str, name: &str) -> Result<T, String> {
    if let Some(thing) = things.iter().find(|&thing| name_of(thing) == name) {
        return Ok(*thing);
    }
    let end = format!(".{name}");
    let mut found = things.iter().filter(|&thing| name_of(thing).ends_with(&end));
    match (found.next(), found.next()) {
        (Some(thing), None) => Ok(*thing),
        (Some(_), Some(_)) => Err("several names end with this".to_owned()),
        (None, _) => {
            let known: Vec<&str> = things.iter().map(name_of).collect();
            Err(format!("there is none; there are {}", known.join(", ")))
        }
    }
}
