//! The dictionary of a translated type: the controller's names and the data plane's values.

use std::collections::{BTreeMap, HashMap, HashSet};

use p4sched_dataplane::Port;

use crate::bytestring::{canonical, full_width, hex};
use crate::fault::{Code, Fault};

/// The controller's number of the CPU port (specification, section "Translation of Port Numbers").
const SDN_PORT_CPU: u32 = 0xffff_fffd;
/// The number of names after which a sweep looks for unused ones.
const NAMES_BEFORE_SWEEP: usize = 1024;

/// The controller's representation of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sdn {
    /// Strings.
    Text,
    /// Numbers of this many bits.
    Number(u32),
}

/// The switch's ports.
#[derive(Debug, Clone, Default)]
pub struct PortNames {
    /// Names of the interfaces, by port number.
    pub interfaces: BTreeMap<Port, String>,
    /// The CPU port.
    pub cpu: Option<Port>,
}

/// Whether a string that was not used before may become the name of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// It may, and gets a free value.
    New,
    /// It may not: only known names are accepted.
    Known,
}

/// A translated type. Values and names are canonical bytestrings. Two names never have the same value.
#[derive(Debug, Clone)]
pub struct Dictionary {
    pub type_name: String,
    /// The controller's representation.
    pub sdn: Sdn,
    /// Bits in the data plane.
    pub width: u32,
    of_ports: bool,
    /// Values with a name that the program fixes.
    pinned: HashSet<Vec<u8>>,
    values: HashMap<Vec<u8>, Vec<u8>>,
    names: HashMap<Vec<u8>, Vec<u8>>,
    /// The next value to assign. 0 comes last, because unset fields hold 0.
    next: u64,
    kept_by_sweep: usize,
}

impl Dictionary {
    /// Creates a type with the pairs of name and value that the program fixes.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a pair that does not fit, and for a name or value in two pairs.
    pub fn new(
        type_name: &str,
        sdn: Sdn,
        width: u32,
        of_ports: bool,
        pairs: &[(Vec<u8>, Vec<u8>)],
    ) -> Result<Dictionary, Fault> {
        let mut dictionary = Dictionary {
            type_name: type_name.to_owned(),
            sdn,
            width,
            of_ports,
            pinned: HashSet::new(),
            values: HashMap::new(),
            names: HashMap::new(),
            next: 1,
            kept_by_sweep: 0,
        };
        for (name, value) in pairs {
            let wrong = |problem: String| Fault::invalid(format!("P4Info: the mappings of '{type_name}': {problem}"));
            let name = dictionary.key(name).map_err(|fault| wrong(fault.message))?;
            let value = full_width(&type_name, value, width).map_err(|fault| wrong(fault.message))?;
            let value = canonical(&value);
            if dictionary.values.contains_key(&name) || dictionary.names.contains_key(&value) {
                let (name, value) = (dictionary.shown(&name), hex(&value));
                return Err(wrong(format!("{name} or the value 0x{value} is listed twice")));
            }
            dictionary.pinned.insert(value.clone());
            dictionary.record(name, value);
        }
        Ok(dictionary)
    }

    pub fn is_of_ports(&self) -> bool {
        self.of_ports
    }

    /// Whether names are numbers and equal to their values. (The CPU port is an exception.)
    pub fn is_plain(&self) -> bool {
        self.sdn != Sdn::Text && self.pinned.is_empty()
    }

    fn record(&mut self, name: Vec<u8>, value: Vec<u8>) {
        self.names.insert(value.clone(), name.clone());
        self.values.insert(name, value);
    }

    fn key(&self, name: &[u8]) -> Result<Vec<u8>, Fault> {
        match self.sdn {
            Sdn::Text => Ok(name.to_vec()),
            Sdn::Number(bits) => full_width(&self.type_name, name, bits).map(|full| canonical(&full)),
        }
    }

    fn shown(&self, name: &[u8]) -> String {
        match self.sdn {
            Sdn::Text => format!("'{}'", name.escape_ascii()),
            Sdn::Number(_) => format!("0x{}", hex(name)),
        }
    }

    /// The data plane's value of a name.
    ///
    /// A new name means: the port with that interface or number; the value with that number, if it has no other name;
    /// otherwise, if `naming` allows, a value without a name.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown name that may not be new, `INVALID_ARGUMENT` for a port that does not exist or has
    /// another name, `OUT_OF_RANGE` for a number with more bits than the type, `RESOURCE_EXHAUSTED` if all values have
    /// names.
    pub fn value(&mut self, name: &[u8], naming: Naming, ports: &PortNames) -> Result<Vec<u8>, Fault> {
        let name = self.key(name)?;
        if let Some(value) = self.values.get(&name) {
            return Ok(value.clone());
        }
        let by_itself = self.by_itself(&name, ports)?;
        if let Some(value) = by_itself {
            match self.names.get(&value) {
                None => {
                    let remembered = self.sdn == Sdn::Text || name != value || Some(&value) == self.cpu(ports).as_ref();
                    if naming == Naming::New && remembered {
                        self.record(name, value.clone());
                    }
                    return Ok(value);
                }
                Some(other) if self.of_ports || self.sdn != Sdn::Text => {
                    let (name, other) = (self.shown(&name), self.shown(other));
                    return Err(Fault::invalid(format!(
                        "{}: {name} is called {other} here",
                        self.type_name
                    )));
                }
                Some(_) => {}
            }
        }
        if self.of_ports {
            let known: Vec<String> = ports
                .interfaces
                .iter()
                .map(|(port, name)| format!("{port} ({name})"))
                .collect();
            let known = match known.is_empty() {
                true => "there are no ports".to_owned(),
                false => format!("the ports are {}", known.join(", ")),
            };
            let name = self.shown(&name);
            return Err(Fault::invalid(format!("{}: no port {name}; {known}", self.type_name)));
        }
        if naming == Naming::Known {
            return Err(Fault::not_found(format!(
                "{}: nothing is called {}",
                self.type_name,
                self.shown(&name)
            )));
        }
        self.give_away(name)
    }

    fn cpu(&self, ports: &PortNames) -> Option<Vec<u8>> {
        let cpu = ports.cpu.filter(|_| self.of_ports)?;
        Some(canonical(&cpu.to_be_bytes()))
    }

    fn has_number_of_cpu(&self) -> bool {
        matches!(self.sdn, Sdn::Number(bits) if bits >= u32::BITS)
    }

    /// The value of a name that is not in the dictionary.
    fn by_itself(&self, name: &[u8], ports: &PortNames) -> Result<Option<Vec<u8>>, Fault> {
        if self.sdn != Sdn::Text {
            let cpu = self
                .cpu(ports)
                .filter(|_| self.has_number_of_cpu() && *name == SDN_PORT_CPU.to_be_bytes());
            let value = cpu.unwrap_or_else(|| name.to_vec());
            return full_width(&self.type_name, &value, self.width).map(|_| Some(value));
        }
        let text = std::str::from_utf8(name).unwrap_or_default();
        let port = ports
            .interfaces
            .iter()
            .filter(|_| self.of_ports)
            .find(|(_, interface)| *interface == text);
        if let Some((port, _)) = port {
            return Ok(Some(canonical(&port.to_be_bytes())));
        }
        let value = number_in(text).filter(|value| full_width(&"", value, self.width).is_ok());
        Ok(value)
    }

    fn give_away(&mut self, name: Vec<u8>) -> Result<Vec<u8>, Fault> {
        let values = 1_u64.checked_shl(self.width).unwrap_or(u64::MAX);
        if self.names.len() as u64 >= values {
            let (name, kind) = (self.shown(&name), &self.type_name);
            let message = format!("{kind}: no value is left for {name}, all {values} have names");
            return Err(Fault::new(Code::ResourceExhausted, message));
        }
        loop {
            let value = canonical(&(self.next % values).to_be_bytes());
            self.next = (self.next + 1) % values;
            if !self.names.contains_key(&value) {
                self.record(name, value.clone());
                return Ok(value);
            }
        }
    }

    /// The controller's name for a value. A value without a name is shown as the interface of that port, or as its
    /// number.
    pub fn name(&self, value: &[u8], ports: &PortNames) -> Vec<u8> {
        let value = canonical(value);
        if let Some(name) = self.names.get(&value) {
            return name.clone();
        }
        if self.sdn != Sdn::Text {
            let is_cpu = self.has_number_of_cpu() && self.cpu(ports).as_ref() == Some(&value);
            let sdn = SDN_PORT_CPU.to_be_bytes().to_vec();
            return if is_cpu && !self.values.contains_key(&sdn) {
                sdn
            } else {
                value
            };
        }
        let number = number_of(&value);
        let interface = number
            .and_then(|number| Port::try_from(number).ok())
            .filter(|_| self.of_ports)
            .and_then(|port| ports.interfaces.get(&port).cloned());
        let decimal = number.map(|number| number.to_string());
        let hexadecimal = format!("0x{}", hex(&value));
        let free = |name: &String| !self.values.contains_key(name.as_bytes());
        let name = [interface, decimal].into_iter().flatten().find(free);
        name.unwrap_or(hexadecimal).into_bytes()
    }

    /// Records the name under which the controller reads a value of the program, so that no other name gets it.
    pub fn keep(&mut self, value: &[u8]) {
        let value = canonical(value);
        if self.sdn == Sdn::Text && !self.of_ports && !self.names.contains_key(&value) {
            let name = self.name(&value, &PortNames::default());
            self.pinned.insert(value.clone());
            self.record(name, value);
        }
    }

    /// Whether so many names exist that unused ones should be forgotten.
    pub fn wants_sweep(&self) -> bool {
        self.names.len() > 2 * self.kept_by_sweep + NAMES_BEFORE_SWEEP
    }

    /// Forgets the names of unused values, except those that the program fixes.
    pub fn sweep(&mut self, used: &HashSet<Vec<u8>>) {
        let pinned = &self.pinned;
        self.names
            .retain(|value, _| pinned.contains(value) || used.contains(value));
        self.values
            .retain(|_, value| pinned.contains(value) || used.contains(value));
        self.kept_by_sweep = self.names.len();
    }

    /// The names that controllers gave, with their values. Names that the program fixes are left out.
    pub fn assigned(&self) -> impl Iterator<Item = (&Vec<u8>, &Vec<u8>)> {
        self.values.iter().filter(|(_, value)| !self.pinned.contains(*value))
    }

    /// Takes over the names that controllers gave to this type under the previous program.
    ///
    /// # Errors
    /// The first name or value with another meaning here.
    pub fn take_over(&mut self, old: &Dictionary) -> Result<(), Fault> {
        for (name, value) in old.assigned() {
            if self.values.get(name) == Some(value) {
                continue;
            }
            if self.values.contains_key(name) || self.names.contains_key(value) {
                let (kind, name) = (&self.type_name, self.shown(name));
                return Err(Fault::invalid(format!(
                    "{kind}: {name} means another value in the new program"
                )));
            }
            self.record(name.clone(), value.clone());
        }
        Ok(())
    }

    /// Whether values of the other type mean the same in this one.
    pub fn same_kind(&self, other: &Dictionary) -> bool {
        (self.sdn, self.width, self.of_ports) == (other.sdn, other.width, other.of_ports)
    }
}

/// The number in a text: decimal, or hexadecimal with whole bytes after `0x`, as [`Dictionary::name`] writes it.
fn number_in(text: &str) -> Option<Vec<u8>> {
    let value = match text.strip_prefix("0x") {
        Some(digits) if !digits.is_empty() && digits.len() % 2 == 0 => {
            let pairs = digits.as_bytes().chunks(2);
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            pairs.map(byte).collect::<Option<Vec<u8>>>()?
        }
        Some(_) => return None,
        None => {
            let number: u64 = text.parse().ok()?;
            // "07" and "+7" are ordinary names.
            (number.to_string() == text).then(|| number.to_be_bytes().to_vec())?
        }
    };
    Some(canonical(&value))
}

/// A value as a number, if it has at most 64 bits.
fn number_of(value: &[u8]) -> Option<u64> {
    (value.len() <= 8).then(|| value.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}
