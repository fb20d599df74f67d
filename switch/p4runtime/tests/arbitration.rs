//! Primary controllers, and the messages to all controllers (specification, section "Client Arbitration and Controller
//! Replication").

use p4sched_device as device;
use p4sched_p4runtime::arbitration::{Answer, Arbitration, MAX_STREAMS_PER_ROLE, StreamId};
use p4sched_proto::p4::v1 as p4rt;
use tonic::Code;

const DEVICE: u64 = 7;

fn id(low: u64) -> Option<p4rt::Uint128> {
    Some(p4rt::Uint128 { high: 0, low })
}

fn request(role: &str, election_id: Option<p4rt::Uint128>) -> p4rt::MasterArbitrationUpdate {
    let role = (!role.is_empty()).then(|| p4rt::Role {
        name: role.to_owned(),
        ..Default::default()
    });
    p4rt::MasterArbitrationUpdate {
        device_id: DEVICE,
        role,
        election_id,
        status: None,
    }
}

/// The stream, status code and election identifier of each answer.
fn summaries(answers: Vec<Answer>) -> Vec<(StreamId, Code, Option<u64>)> {
    let code =
        |update: &p4rt::MasterArbitrationUpdate| Code::from(update.status.as_ref().map_or(-1, |status| status.code));
    answers
        .iter()
        .map(|(stream, update)| (*stream, code(update), update.election_id.map(|id| id.low)))
        .collect()
}

fn join(
    arbitration: &mut Arbitration,
    stream: StreamId,
    election_id: Option<u64>,
) -> Vec<(StreamId, Code, Option<u64>)> {
    summaries(
        arbitration
            .update(stream, &request("", election_id.and_then(id)))
            .expect("the request is valid"),
    )
}

#[test]
fn the_highest_election_id_is_primary_and_all_are_notified() {
    let mut arbitration = Arbitration::new(DEVICE);
    assert_eq!(join(&mut arbitration, 1, Some(10)), [(1, Code::Ok, Some(10))]);
    assert_eq!(
        join(&mut arbitration, 2, Some(5)),
        [(2, Code::AlreadyExists, Some(10))],
        "only a backup is notified"
    );
    let answers = join(&mut arbitration, 3, Some(20));
    assert_eq!(
        answers,
        [
            (1, Code::AlreadyExists, Some(20)),
            (2, Code::AlreadyExists, Some(20)),
            (3, Code::Ok, Some(20))
        ],
        "the new primary hears it last"
    );
    assert!(arbitration.is_primary(3) && !arbitration.is_primary(1));
    assert_eq!(arbitration.primaries(), [3]);
}

#[test]
fn when_the_primary_goes_there_is_none_until_someone_asks_again() {
    let mut arbitration = Arbitration::new(DEVICE);
    join(&mut arbitration, 1, Some(10));
    join(&mut arbitration, 2, Some(5));
    assert_eq!(summaries(arbitration.close(1)), [(2, Code::NotFound, Some(10))]);
    assert_eq!(
        join(&mut arbitration, 2, Some(9)),
        [(2, Code::NotFound, Some(10))],
        "10 was seen"
    );
    assert_eq!(
        join(&mut arbitration, 2, Some(10)),
        [(2, Code::Ok, Some(10))],
        "not below what was seen"
    );
    assert!(arbitration.close(99).is_empty());
}

#[test]
fn a_primary_may_step_down() {
    let mut arbitration = Arbitration::new(DEVICE);
    join(&mut arbitration, 1, Some(10));
    join(&mut arbitration, 2, Some(5));
    let answers = join(&mut arbitration, 1, Some(4));
    assert_eq!(answers, [(1, Code::NotFound, Some(10)), (2, Code::NotFound, Some(10))]);
}

#[test]
fn without_election_id_a_controller_is_always_backup() {
    let mut arbitration = Arbitration::new(DEVICE);
    assert_eq!(join(&mut arbitration, 1, None), [(1, Code::NotFound, None)]);
    assert_eq!(
        join(&mut arbitration, 2, None),
        [(2, Code::NotFound, None)],
        "two of them do not collide"
    );
    assert_eq!(
        join(&mut arbitration, 3, Some(0)).last(),
        Some(&(3, Code::Ok, Some(0))),
        "0 is an election id"
    );
}

#[test]
fn roles_have_primaries_of_their_own_and_keep_their_config() {
    let mut arbitration = Arbitration::new(DEVICE);
    join(&mut arbitration, 1, Some(1));
    let config = prost_types::Any {
        type_url: "lab/role".to_owned(),
        value: vec![1],
    };
    let mut with_config = request("telemetry", id(1));
    with_config.role.as_mut().expect("it has a role").config = Some(config.clone());
    let answers = arbitration.update(2, &with_config).expect("another role");
    assert_eq!(
        answers[0].1.role.as_ref().and_then(|role| role.config.clone()),
        Some(config.clone())
    );
    let backup = arbitration.update(3, &request("telemetry", None)).expect("a backup");
    assert_eq!(
        backup[0].1.role.as_ref().and_then(|role| role.config.clone()),
        Some(config),
        "that of the primary"
    );
    assert_eq!(arbitration.primaries(), [1, 2]);
}

#[test]
fn streams_end_for_the_reasons_of_the_specification() {
    let mut arbitration = Arbitration::new(DEVICE);
    join(&mut arbitration, 1, Some(10));
    let other_device = p4rt::MasterArbitrationUpdate {
        device_id: 8,
        ..request("", id(1))
    };
    let cases = [
        (2, other_device.clone(), device::Code::NotFound),
        (2, request("", id(10)), device::Code::InvalidArgument),
        (1, other_device, device::Code::FailedPrecondition),
        (1, request("other", id(11)), device::Code::FailedPrecondition),
    ];
    for (stream, request, expected) in cases {
        let refused = arbitration
            .update(stream, &request)
            .expect_err("it is against the rules");
        assert_eq!(refused.code, expected, "{request:?}");
    }
    for stream in 2..=MAX_STREAMS_PER_ROLE as u64 {
        join(&mut arbitration, stream, None);
    }
    let refused = arbitration.update(1000, &request("", None)).expect_err("one too many");
    assert_eq!(refused.code, device::Code::ResourceExhausted);
}

#[test]
fn only_the_primary_may_write() {
    let mut arbitration = Arbitration::new(DEVICE);
    let check = |arbitration: &Arbitration, device, role: &str, low: Option<u64>| {
        arbitration
            .check_write(device, role, low.and_then(id).as_ref())
            .map_err(|fault| fault.code)
    };
    assert_eq!(
        check(&arbitration, DEVICE, "", Some(1)),
        Err(device::Code::PermissionDenied),
        "nobody is primary"
    );
    join(&mut arbitration, 1, Some(10));
    let cases = [
        (DEVICE, "", Some(10), Ok(())),
        (DEVICE, "", Some(11), Err(device::Code::PermissionDenied)),
        (DEVICE, "", None, Err(device::Code::PermissionDenied)),
        (DEVICE, "other", Some(10), Err(device::Code::NotFound)),
        (8, "", Some(10), Err(device::Code::NotFound)),
    ];
    for (device, role, low, expected) in cases {
        assert_eq!(
            check(&arbitration, device, role, low),
            expected,
            "{device} '{role}' {low:?}"
        );
    }
    arbitration.close(1);
    assert_eq!(
        check(&arbitration, DEVICE, "", Some(10)),
        Err(device::Code::PermissionDenied),
        "the primary is gone"
    );
}
