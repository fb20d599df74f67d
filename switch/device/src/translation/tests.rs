use std::collections::HashSet;

use super::dictionary::{Dictionary, Naming, PortNames, Sdn};
use crate::fault::Code;

fn dictionary(sdn: Sdn, width: u32, of_ports: bool, pairs: &[(&[u8], &[u8])]) -> Dictionary {
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(name, value)| (name.to_vec(), value.to_vec()))
        .collect();
    Dictionary::new("t", sdn, width, of_ports, &pairs).expect("pairs that fit")
}

fn ports() -> PortNames {
    PortNames {
        interfaces: [(1, "s1-eth1".to_owned()), (2, "s1-eth2".to_owned())].into(),
        cpu: Some(510),
    }
}

#[test]
fn names_get_free_values_and_zero_comes_last() {
    let mut names = dictionary(Sdn::Text, 2, false, &[]);
    let none = PortNames::default();
    let mut value = |name: &[u8]| names.value(name, Naming::New, &none).map_err(|fault| fault.code);
    assert_eq!(value(b"red"), Ok(vec![1]));
    assert_eq!(value(b"3"), Ok(vec![3]), "a number means itself while it is free");
    assert_eq!(value(b"blue"), Ok(vec![2]));
    assert_eq!(value(b""), Ok(vec![0]), "the empty name is one like any other");
    assert_eq!(value(b"red"), Ok(vec![1]));
    assert_eq!(value(b"green"), Err(Code::ResourceExhausted));
    assert_eq!(names.name(&[0, 2], &none), b"blue");
    names.sweep(&HashSet::from([vec![2], vec![0]]));
    assert_eq!(
        names.value(b"green", Naming::New, &none),
        Ok(vec![1]),
        "nothing uses 'red' any more"
    );
    assert_eq!(names.name(&[2], &none), b"blue");
}

#[test]
fn a_name_that_nobody_has_given_is_not_found_and_a_number_means_itself() {
    let mut names = dictionary(Sdn::Text, 9, false, &[(b"default", &[0])]);
    let none = PortNames::default();
    let mut known = |name: &[u8]| names.value(name, Naming::Known, &none).map_err(|fault| fault.code);
    assert_eq!(known(b"red"), Err(Code::NotFound));
    assert_eq!(known(b"default"), Ok(vec![0]));
    assert_eq!(known(b"300"), Ok(vec![1, 44]));
    assert_eq!(known(b"0x012c"), Ok(vec![1, 44]));
    for name in ["600", "0300", "+3", "0x", "0x1", "-1"] {
        assert_eq!(known(name.as_bytes()), Err(Code::NotFound), "{name}");
    }
    assert_eq!(names.name(&[1, 44], &none), b"300");
    assert_eq!(
        names.value(b"0", Naming::New, &none),
        Ok(vec![1]),
        "0 has another name, so '0' is a name like any other"
    );
    assert_eq!(names.name(&[1], &none), b"0");
}

#[test]
fn a_port_is_its_interface_or_its_number() {
    let mut names = dictionary(Sdn::Text, 9, true, &[(b"CPU", &[1, 0xfe])]);
    let ports = ports();
    let mut value = |name: &str| {
        let found = names.value(name.as_bytes(), Naming::New, &ports);
        found.map_err(|fault| (fault.code, fault.message))
    };
    assert_eq!(value("s1-eth2"), Ok(vec![2]));
    assert_eq!(value("1"), Ok(vec![1]));
    assert_eq!(value("CPU"), Ok(vec![1, 0xfe]));
    let other = "t: 's1-eth1' is called '1' here".to_owned();
    assert_eq!(
        value("s1-eth1"),
        Err((Code::InvalidArgument, other)),
        "one name for one port"
    );
    let unknown = "t: no port 'Ethernet0'; the ports are 1 (s1-eth1), 2 (s1-eth2)".to_owned();
    assert_eq!(value("Ethernet0"), Err((Code::InvalidArgument, unknown)));
    assert_eq!(names.name(&[3], &ports), b"3");
    assert_eq!(names.name(&[1], &ports), b"1");
    let fresh = dictionary(Sdn::Text, 9, true, &[]);
    assert_eq!(fresh.name(&[1], &ports), b"s1-eth1");
}

#[test]
fn numbers_mean_themselves_but_for_those_that_the_program_maps_and_the_cpu_port() {
    let cpu = [0xff, 0xff, 0xff, 0xfd];
    let mut numbers = dictionary(Sdn::Number(32), 9, true, &[]);
    let ports = ports();
    assert_eq!(numbers.name(&[1, 0xfe], &ports), cpu);
    assert_eq!(numbers.value(&cpu, Naming::New, &ports), Ok(vec![1, 0xfe]));
    assert_eq!(numbers.value(&[0, 0, 0, 5], Naming::New, &ports), Ok(vec![5]));
    let code = |found: Result<Vec<u8>, crate::fault::Fault>| found.map_err(|fault| fault.code);
    assert_eq!(code(numbers.value(&[2, 0], Naming::New, &ports)), Err(Code::OutOfRange));
    assert_eq!(code(numbers.value(&[], Naming::New, &ports)), Err(Code::OutOfRange));
    let mut mapped = dictionary(Sdn::Number(32), 9, false, &[(&[1, 0], &[7])]);
    assert_eq!(mapped.value(&[1, 0], Naming::New, &ports), Ok(vec![7]));
    assert_eq!(
        code(mapped.value(&[7], Naming::New, &ports)),
        Err(Code::InvalidArgument)
    );
    assert_eq!(
        (mapped.name(&[7], &ports), mapped.name(&[8], &ports)),
        (vec![1, 0], vec![8])
    );
}

#[test]
fn mappings_that_contradict_each_other_are_refused() {
    let wrong: [&[(&[u8], &[u8])]; 3] = [
        &[(b"a", &[1]), (b"a", &[2])],
        &[(b"a", &[1]), (b"b", &[0, 1])],
        &[(b"a", &[4])],
    ];
    for pairs in wrong {
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(name, value)| (name.to_vec(), value.to_vec()))
            .collect();
        let refused = Dictionary::new("t", Sdn::Text, 2, false, &pairs);
        assert_eq!(
            refused.map_err(|fault| fault.code).err(),
            Some(Code::InvalidArgument),
            "{pairs:?}"
        );
    }
}
