//! gNMI: ports as openconfig-interfaces, as clients of Stratum ask for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use p4sched_p4runtime::gnmi::{Interface, Interfaces};
use p4sched_proto::gnmi as pb;
use p4sched_proto::gnmi::g_nmi_client::GNmiClient;
use p4sched_proto::gnmi::get_request::DataType;
use p4sched_proto::gnmi::subscribe_request::Request;
use p4sched_proto::gnmi::subscribe_response::Response;
use p4sched_proto::gnmi::subscription_list::Mode;
use p4sched_proto::gnmi::typed_value::Value;
use p4sched_proto::gnmi::{Encoding, SubscriptionMode};
use p4sched_proto::gnoi::system::TimeRequest;
use p4sched_proto::gnoi::system::system_client::SystemClient;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

use crate::server::{Server, start, start_at};

/// Interfaces `eth1` to `eth3` that do what they are told. `eth3` cannot change.
struct Fake {
    interfaces: Mutex<BTreeMap<String, Interface>>,
    changed: watch::Sender<()>,
}

impl Fake {
    fn new() -> Arc<Fake> {
        let interface = |number: u8| Interface {
            enabled: true,
            up: true,
            mac: [2, 0, 0, 0, 0, number],
            speed: (number < 3).then_some(10_000),
        };
        let interfaces = [1, 2, 3].map(|number| (format!("eth{number}"), interface(number)));
        Arc::new(Fake {
            interfaces: Mutex::new(interfaces.into()),
            changed: watch::Sender::new(()),
        })
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Interface)) {
        let mut interfaces = self.interfaces.lock().expect("no test failed inside");
        change(interfaces.get_mut(name).expect("the test knows its interfaces"));
        drop(interfaces);
        self.changed.send_replace(());
    }
}

impl Interfaces for Fake {
    fn read(&self, name: &str) -> Option<Interface> {
        self.interfaces
            .lock()
            .expect("no test failed inside")
            .get(name)
            .copied()
    }

    fn enable(&self, name: &str, enabled: bool) -> Result<(), String> {
        if name == "eth3" {
            return Err("cannot take interface eth3 down: it is stuck".to_owned());
        }
        self.change(name, |interface| (interface.enabled, interface.up) = (enabled, enabled));
        Ok(())
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

async fn connected() -> (Server, Arc<Fake>, GNmiClient<Channel>) {
    let fake = Fake::new();
    let server = start_at(None, Some(Arc::clone(&fake) as Arc<dyn Interfaces>)).await;
    let client = GNmiClient::connect(server.address.clone())
        .await
        .expect("the server listens");
    (server, fake, client)
}

/// A path in the usual notation; each element may have one key.
fn path(text: &str) -> pb::Path {
    let elem = text.split('/').filter(|part| !part.is_empty()).map(|part| {
        let (name, key) = part.split_once('[').unwrap_or((part, ""));
        let key = key.trim_end_matches(']').split_once('=');
        pb::PathElem {
            name: name.to_owned(),
            key: key
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into_iter()
                .collect(),
        }
    });
    pb::Path {
        elem: elem.collect(),
        ..pb::Path::default()
    }
}

fn get_of(paths: &[&str], encoding: Encoding) -> pb::GetRequest {
    pb::GetRequest {
        path: paths.iter().map(|text| path(text)).collect(),
        encoding: encoding.into(),
        ..pb::GetRequest::default()
    }
}

/// The values of notifications, by interface and last element.
fn values<'a>(notifications: impl IntoIterator<Item = &'a pb::Notification>) -> HashMap<(String, String), Value> {
    let updates = notifications.into_iter().flat_map(|notification| &notification.update);
    let value = |update: &pb::Update| {
        let elem = &update.path.as_ref().expect("an update has a path").elem;
        let name = (elem[1].key["name"].clone(), elem[elem.len() - 1].name.clone());
        let value = update.val.as_ref().and_then(|value| value.value.clone());
        (name, value.expect("an update has a value"))
    };
    updates.map(value).collect()
}

fn at(interface: &str, leaf: &str) -> (String, String) {
    (interface.to_owned(), leaf.to_owned())
}

fn text(text: &str) -> Value {
    Value::StringVal(text.to_owned())
}

async fn get(client: &mut GNmiClient<Channel>, paths: &[&str]) -> Result<HashMap<(String, String), Value>, Status> {
    let response = client.get(get_of(paths, Encoding::Proto)).await?.into_inner();
    Ok(values(&response.notification))
}

async fn set(client: &mut GNmiClient<Channel>, updates: &[(&str, Value)]) -> Result<pb::SetResponse, Status> {
    let update = updates.iter().map(|(text, value)| pb::Update {
        path: Some(path(text)),
        val: Some(pb::TypedValue {
            value: Some(value.clone()),
        }),
        duplicates: 0,
    });
    let request = pb::SetRequest {
        update: update.collect(),
        ..pb::SetRequest::default()
    };
    client.set(request).await.map(tonic::Response::into_inner)
}

/// A subscription and its messages.
struct Subscription {
    requests: mpsc::Sender<pb::SubscribeRequest>,
    responses: Streaming<pb::SubscribeResponse>,
}

impl Subscription {
    async fn open(
        client: &mut GNmiClient<Channel>,
        mode: Mode,
        asked: &[(&str, SubscriptionMode)],
        change: impl FnOnce(&mut pb::SubscriptionList),
    ) -> Result<Subscription, Status> {
        let subscription = asked.iter().map(|(text, mode)| pb::Subscription {
            path: Some(path(text)),
            mode: (*mode).into(),
            ..pb::Subscription::default()
        });
        let mut list = pb::SubscriptionList {
            mode: mode.into(),
            subscription: subscription.collect(),
            ..pb::SubscriptionList::default()
        };
        change(&mut list);
        let (requests, outgoing) = mpsc::channel(4);
        let opened = Subscription {
            requests,
            responses: client.subscribe(ReceiverStream::new(outgoing)).await?.into_inner(),
        };
        opened.send(Request::Subscribe(list)).await;
        Ok(opened)
    }

    async fn send(&self, request: Request) {
        let request = Some(request);
        let sent = self.requests.send(pb::SubscribeRequest { request }).await;
        sent.expect("the stream is open");
    }

    async fn next(&mut self) -> Result<Option<Response>, Status> {
        let message = self.responses.message().await?;
        Ok(message.and_then(|message| message.response))
    }

    async fn update(&mut self) -> pb::Notification {
        match self.next().await {
            Ok(Some(Response::Update(notification))) => notification,
            other => panic!("not an update: {other:?}"),
        }
    }

    /// All updates before the next `sync_response`.
    async fn synchronized(&mut self) -> Vec<pb::Notification> {
        let mut notifications = Vec::new();
        loop {
            match self.next().await {
                Ok(Some(Response::Update(notification))) => notifications.push(notification),
                Ok(Some(Response::SyncResponse(true))) => return notifications,
                other => panic!("neither an update nor the end of them: {other:?}"),
            }
        }
    }

    /// The status that ends the stream.
    async fn refused(&mut self) -> Status {
        match self.next().await {
            Err(status) => status,
            other => panic!("the stream goes on: {other:?}"),
        }
    }
}

const OPER_STATUS: &str = "/interfaces/interface[name=*]/state/oper-status";

#[tokio::test]
async fn the_switch_says_which_models_and_encodings_it_has() {
    let (_server, _, mut client) = connected().await;
    let found = client
        .capabilities(pb::CapabilityRequest {})
        .await
        .expect("it answers")
        .into_inner();
    let models: Vec<_> = found.supported_models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(models, ["openconfig-interfaces", "openconfig-if-ethernet"]);
    let encodings: Vec<_> = found.supported_encodings().collect();
    assert_eq!(encodings, [Encoding::Proto, Encoding::Json, Encoding::JsonIetf]);
}

#[tokio::test]
async fn get_returns_the_ports_with_number_state_speed_and_address() {
    let (server, fake, mut client) = connected().await;
    fake.change("eth2", |interface| interface.up = false);
    let found = get(&mut client, &["/interfaces/interface[name=*]"])
        .await
        .expect("the path is known");
    assert_eq!(found[&at("eth2", "ifindex")], Value::UintVal(2));
    assert_eq!(found[&at("eth1", "oper-status")], text("UP"));
    assert_eq!(found[&at("eth2", "oper-status")], text("DOWN"));
    assert_eq!(found[&at("eth2", "admin-status")], text("UP"));
    assert_eq!(found[&at("eth1", "port-speed")], text("SPEED_10GB"));
    assert_eq!(found[&at("eth3", "port-speed")], text("SPEED_UNKNOWN"));
    assert_eq!(found[&at("eth3", "mac-address")], text("02:00:00:00:00:03"));
    assert_eq!(found[&at("eth3", "enabled")], Value::BoolVal(true));
    // Those of a path are in one notification; a target in the prefix comes back.
    let request = pb::GetRequest {
        prefix: Some(pb::Path {
            target: "s1".to_owned(),
            ..path("/interfaces/interface[name=eth1]")
        }),
        r#type: DataType::Config.into(),
        ..get_of(&["", "state"], Encoding::JsonIetf)
    };
    let response = client.get(request).await.expect("both are known").into_inner();
    assert_eq!(response.notification.len(), 2);
    assert_eq!(
        response.notification[0]
            .prefix
            .as_ref()
            .map(|prefix| prefix.target.as_str()),
        Some("s1")
    );
    assert_eq!(response.notification[0].update.len(), 5, "what can be configured");
    assert!(
        response.notification[1].update.is_empty(),
        "a state is no configuration"
    );
    assert_eq!(
        values(&response.notification)[&at("eth1", "enabled")],
        Value::JsonIetfVal(b"true".to_vec())
    );
    drop(server);
}

#[tokio::test]
async fn bad_requests_are_refused_with_a_sentence() {
    let (_server, _, mut client) = connected().await;
    let mut refused = async |request: pb::GetRequest| {
        let status = client.get(request).await.expect_err("it is refused");
        (status.code(), status.message().to_owned())
    };
    assert_eq!(
        refused(get_of(&["/interfaces/interface[name=eth1]/stat"], Encoding::Proto)).await,
        (
            Code::InvalidArgument,
            "/interfaces/interface[name=eth1]/stat: no stat; interface has config, ethernet, name, state".to_owned()
        )
    );
    assert_eq!(
        refused(get_of(&["/interfaces/interface[name=eth9]"], Encoding::Proto)).await,
        (
            Code::NotFound,
            "no interface eth9; this switch has eth1, eth2, eth3".to_owned()
        )
    );
    assert_eq!(
        refused(get_of(&["/"], Encoding::Ascii)).await,
        (
            Code::Unimplemented,
            "no encoding ASCII; this switch has PROTO, JSON, JSON_IETF".to_owned()
        )
    );
    assert_eq!(
        refused(get_of(&[], Encoding::Proto)).await,
        (
            Code::InvalidArgument,
            "the request has no path; an empty path selects everything".to_owned()
        )
    );
    assert_eq!(
        refused(get_of(&["/"; 1025], Encoding::Proto)).await,
        (
            Code::InvalidArgument,
            "1025 paths; a request has at most 1024".to_owned()
        )
    );
    let element = vec!["interfaces".to_owned()];
    let old = pb::Path {
        element,
        ..pb::Path::default()
    };
    let request = pb::GetRequest {
        path: vec![old],
        ..pb::GetRequest::default()
    };
    assert_eq!(refused(request).await.0, Code::InvalidArgument);
}

#[tokio::test]
async fn set_takes_ports_down_and_up_all_or_none() {
    let (_server, fake, mut client) = connected().await;
    let (one, two) = (
        "/interfaces/interface[name=eth1]/config/enabled",
        "/interfaces/interface[name=eth2]/config/enabled",
    );
    let down = Value::BoolVal(false);
    let response = set(&mut client, &[(one, down.clone()), (two, down.clone())]).await;
    let response = response.expect("both can change");
    assert_eq!(response.response.len(), 2);
    assert_eq!(response.response[1].path, Some(path(two)));
    let found = get(&mut client, &["/interfaces/interface[name=*]/state"])
        .await
        .expect("it is known");
    assert_eq!(found[&at("eth1", "admin-status")], text("DOWN"));
    assert_eq!(found[&at("eth2", "oper-status")], text("DOWN"));
    assert_eq!(found[&at("eth3", "oper-status")], text("UP"));
    // The container as JSON, as pygnmi sends it.
    let up = Value::JsonIetfVal(br#"{"name": "eth1", "enabled": true}"#.to_vec());
    set(&mut client, &[("/interfaces/interface[name=eth1]/config", up)])
        .await
        .expect("it can change");
    assert!(fake.read("eth1").is_some_and(|interface| interface.up));

    let stuck = "/interfaces/interface[name=eth3]/config/enabled";
    let status = set(&mut client, &[(one, down.clone()), (stuck, down.clone())]).await;
    let status = status.expect_err("eth3 cannot change");
    assert_eq!(
        (status.code(), status.message()),
        (Code::FailedPrecondition, "cannot take interface eth3 down: it is stuck")
    );
    assert!(
        fake.read("eth1").is_some_and(|interface| interface.enabled),
        "it is taken back"
    );
}

#[tokio::test]
async fn only_config_enabled_can_be_set() {
    let (_server, fake, mut client) = connected().await;
    let only = "only config/enabled of one interface can be set";
    let one = "/interfaces/interface[name=eth1]";
    let json = |text: &str| Value::JsonVal(text.as_bytes().to_vec());
    let cases = [
        (
            format!("{one}/config/enabled"),
            text("no"),
            "give true or false".to_owned(),
        ),
        (
            format!("{one}/config/enabled"),
            json("{"),
            "give true or false".to_owned(),
        ),
        (
            format!("{one}/config"),
            json(r#"{"mtu": 9000}"#),
            format!("mtu: {only}"),
        ),
        (
            format!("{one}/config"),
            json(r#"{"name": "eth7"}"#),
            format!("name: {only}"),
        ),
        (format!("{one}/state/oper-status"), text("DOWN"), only.to_owned()),
        (
            "/interfaces/interface[name=*]/config/enabled".to_owned(),
            Value::BoolVal(false),
            only.to_owned(),
        ),
        (
            format!("{one}/config/enable"),
            Value::BoolVal(false),
            "no enable; config has".to_owned(),
        ),
    ];
    for (path, value, expected) in cases {
        let status = set(&mut client, &[(path.as_str(), value)]).await.expect_err(&path);
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains(&expected), "{}", status.message());
    }
    let unknown = set(
        &mut client,
        &[("/interfaces/interface[name=eth9]/config/enabled", Value::BoolVal(true))],
    )
    .await;
    assert_eq!(unknown.expect_err("no such port").code(), Code::NotFound);
    let delete = pb::SetRequest {
        delete: vec![path(one)],
        ..pb::SetRequest::default()
    };
    assert_eq!(
        client.set(delete).await.expect_err("nothing goes away").code(),
        Code::InvalidArgument
    );
    assert!(fake.read("eth1").is_some_and(|interface| interface.enabled));
}

#[tokio::test]
async fn a_subscription_once_ends_and_one_with_polls_answers_each() {
    let (_server, fake, mut client) = connected().await;
    let asked = [(OPER_STATUS, SubscriptionMode::TargetDefined)];
    let mut once = Subscription::open(&mut client, Mode::Once, &asked, |_| {})
        .await
        .expect("it opens");
    assert_eq!(values(&once.synchronized().await).len(), 3);
    assert_eq!(once.next().await.expect("it ends well"), None);

    let mut polled = Subscription::open(&mut client, Mode::Poll, &asked, |list| list.updates_only = true).await;
    let polled = polled.as_mut().expect("it opens");
    assert!(polled.synchronized().await.is_empty());
    fake.change("eth2", |interface| interface.up = false);
    polled.send(Request::Poll(pb::Poll {})).await;
    assert_eq!(
        values(&polled.synchronized().await)[&at("eth2", "oper-status")],
        text("DOWN")
    );
}

#[tokio::test]
async fn samples_come_again_and_again() {
    let (_server, _, mut client) = connected().await;
    let counters = "/interfaces/interface[name=eth1]/state/counters";
    let asked = [(counters, SubscriptionMode::Sample)];
    let shortest = |list: &mut pb::SubscriptionList| list.subscription[0].sample_interval = 1;
    let mut sampled = Subscription::open(&mut client, Mode::Stream, &asked, shortest)
        .await
        .expect("it opens");
    assert_eq!(values(&sampled.synchronized().await).len(), 14);
    let (first, second) = (sampled.update().await, sampled.update().await);
    assert_eq!(values([&first, &second]).len(), 14);
    assert!(second.timestamp - first.timestamp > 0);
}

#[tokio::test]
async fn wrong_subscriptions_end_with_a_sentence() {
    let (_server, _, mut client) = connected().await;
    let on_change = |path| [(path, SubscriptionMode::OnChange)];
    let cases = [
        (
            "/interfaces/interface[name=eth1]/state/counters",
            "subscribe to them with SAMPLE",
        ),
        ("/components", "no components; the root has interfaces"),
    ];
    for (path, expected) in cases {
        let mut opened = Subscription::open(&mut client, Mode::Stream, &on_change(path), |_| {}).await;
        let status = opened.as_mut().expect("the stream opens").refused().await;
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains(expected), "{}", status.message());
    }
    let asked = on_change(OPER_STATUS);
    let bytes = |list: &mut pb::SubscriptionList| list.encoding = Encoding::Bytes.into();
    let mut opened = Subscription::open(&mut client, Mode::Stream, &asked, bytes)
        .await
        .expect("it opens");
    assert_eq!(opened.refused().await.code(), Code::Unimplemented);
    let mut second = Subscription::open(&mut client, Mode::Stream, &asked, |_| {})
        .await
        .expect("it opens");
    second.synchronized().await;
    second.send(Request::Poll(pb::Poll {})).await;
    let status = second.refused().await;
    assert_eq!(
        status.message(),
        "a stream has one subscription; open another stream for another"
    );
}

#[tokio::test]
async fn many_subscriptions_are_refused_until_others_end() {
    let (_server, _, mut client) = connected().await;
    let asked = [(OPER_STATUS, SubscriptionMode::OnChange)];
    let mut open = Vec::new();
    for _ in 0..64 {
        open.push(
            Subscription::open(&mut client, Mode::Stream, &asked, |_| {})
                .await
                .expect("there is room"),
        );
    }
    let refused = Subscription::open(&mut client, Mode::Stream, &asked, |_| {}).await;
    let refused = refused.err().expect("there is no room");
    assert_eq!(
        (refused.code(), refused.message()),
        (Code::ResourceExhausted, "64 subscriptions are open; end one first")
    );
    // The server notices a little later that a client is gone.
    drop(open.pop());
    while Subscription::open(&mut client, Mode::Stream, &asked, |_| {})
        .await
        .is_err()
    {
        tokio::task::yield_now().await;
    }
    assert_eq!(values(&open[0].synchronized().await).len(), 3, "the others go on");
}

/// The requests of ONOS 2.7 and its driver for Stratum, in their order.
#[tokio::test]
async fn onos_driver_for_stratum_finds_its_ports() {
    let (server, fake, mut client) = connected().await;
    let mut gnoi = SystemClient::connect(server.address.clone())
        .await
        .expect("the server listens");
    let time = gnoi
        .time(TimeRequest {})
        .await
        .expect("ONOS takes an error for a dead switch");
    assert!(time.into_inner().time > 0);
    // It asks for a path that nobody has, to see whether there is gNMI.
    let ping = client.get(get_of(&["/onos-gnmi-ping"], Encoding::Json)).await;
    assert_eq!(ping.expect_err("there is no such path").code(), Code::InvalidArgument);

    let ports = get(&mut client, &["/interfaces/interface[name=...]/state"])
        .await
        .expect("it is known");
    for number in 1..=3 {
        let name = format!("eth{number}");
        assert_eq!(ports[&at(&name, "ifindex")], Value::UintVal(number));
        assert_eq!(ports[&at(&name, "oper-status")], text("UP"));
        assert!(matches!(ports[&at(&name, "last-change")], Value::UintVal(1..)));
    }
    let counters = ["eth1", "eth2", "eth3"].map(|name| format!("/interfaces/interface[name={name}]/state/counters"));
    let counters = get(&mut client, &counters.each_ref().map(String::as_str))
        .await
        .expect("they are known");
    assert_eq!(counters.len(), 3 * 14);
    assert!(counters.values().all(|value| matches!(value, Value::UintVal(_))));

    let names = ["eth1", "eth2", "eth3"].map(|name| format!("/interfaces/interface[name={name}]/state"));
    let asked = names.each_ref().map(|name| (name.as_str(), SubscriptionMode::OnChange));
    let mut stream = Subscription::open(&mut client, Mode::Stream, &asked, |list| list.updates_only = true).await;
    let stream = stream.as_mut().expect("it opens");
    assert!(stream.synchronized().await.is_empty());
    let enabled = "/interfaces/interface[name=eth2]/config/enabled";
    set(&mut client, &[(enabled, Value::BoolVal(false))])
        .await
        .expect("it can change");
    // ONOS reads state and time of a change from one notification.
    let changed = values([&stream.update().await]);
    assert_eq!(changed[&at("eth2", "oper-status")], text("DOWN"));
    assert_eq!(changed[&at("eth2", "enabled")], Value::BoolVal(false));
    let (Value::UintVal(before), Value::UintVal(after)) =
        (&ports[&at("eth2", "last-change")], &changed[&at("eth2", "last-change")])
    else {
        panic!("times are numbers");
    };
    assert!(after > before);
    fake.change("eth1", |interface| interface.up = false);
    let changed = values([&stream.update().await]);
    assert_eq!(changed[&at("eth1", "oper-status")], text("DOWN"));
    assert!(!changed.contains_key(&at("eth1", "enabled")), "it did not change");
}

#[tokio::test]
async fn a_switch_without_interfaces_has_no_gnmi() {
    let server = start().await;
    let mut client = GNmiClient::connect(server.address.clone())
        .await
        .expect("the server listens");
    let status = client
        .get(get_of(&["/"], Encoding::Proto))
        .await
        .expect_err("it has none");
    assert_eq!(status.code(), Code::Unimplemented);
}
