//! The connections: they read calls and send answers.
//!
//! A client that sends invalid messages, or sends too slowly, is disconnected. The log reports the first such client,
//! the second, the fourth and so on, so that repeated attempts do not fill it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use p4sched_device::Program;
use p4sched_device::bmv2::SwapCode;
use p4sched_p4runtime::DeviceHandle;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::answer::{Failure, Outcome, reply};
use crate::protocol::{DecodeError, Message, MessageKind, encode, parse};
use crate::services;
use crate::value::{ArgumentError, Fields, Value};

/// The most connections at the same time. Each can hold one message.
const MAX_CONNECTIONS: usize = 32;
/// The time limit for receiving a message, from its first byte to its last, and for sending an answer.
const PATIENCE: Duration = Duration::from_secs(10);
const BUFFER: usize = 16 << 10;
const MICROS_PER_SECOND: u64 = 1_000_000;

/// Writes a line for the operator.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// The identity of the switch.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    pub device_id: u64,
    /// The port of this server.
    pub thrift_port: u16,
    /// Whether programs may be swapped.
    pub swap: bool,
}

/// Serves clients until the runtime ends.
pub async fn serve(listener: TcpListener, identity: Identity, device: DeviceHandle, log: Log) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let failures = Arc::new(FailedConnections {
        log: Arc::clone(&log),
        count: AtomicU64::new(0),
    });
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                log(&format!("thrift: {error}"));
                // Probably no file descriptor is free: some must be closed first.
                tokio::time::sleep(PATIENCE / 100).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            failures.report(&format!("{peer}: refused, there are {MAX_CONNECTIONS} connections"));
            continue;
        };
        let connection = Connection {
            identity,
            device: device.clone(),
            log: Arc::clone(&log),
        };
        let failures = Arc::clone(&failures);
        tokio::spawn(async move {
            if let Err(problem) = connection.serve(stream).await {
                failures.report(&format!("{peer}: disconnected: {problem}"));
            }
            drop(place);
        });
    }
}

/// Reports connections that ended with an error.
struct FailedConnections {
    log: Log,
    count: AtomicU64,
}

impl FailedConnections {
    /// Logs the first error, and then whenever the number of errors has doubled.
    fn report(&self, failure: &str) {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        match count {
            1 => (self.log)(&format!("thrift: {failure}")),
            _ if count.is_power_of_two() => (self.log)(&format!("thrift: {failure}; {count} connections so far")),
            _ => {}
        }
    }
}

struct Connection {
    identity: Identity,
    device: DeviceHandle,
    log: Log,
}

impl Connection {
    /// Answers calls until the client leaves.
    ///
    /// # Errors
    /// One line with the reason why the client is disconnected.
    async fn serve(&self, mut stream: TcpStream) -> Result<(), String> {
        // Answers are short, and clients wait for them.
        let _ = stream.set_nodelay(true);
        let mut waiting = Vec::new();
        while let Some(message) = next_message(&mut stream, &mut waiting).await? {
            let method = message.name.split_once(':').map_or("", |(_, method)| method).to_owned();
            if !matches!(message.kind, MessageKind::Call | MessageKind::Oneway) {
                return Err("an answer without a call".to_owned());
            }
            let (kind, sequence) = (message.kind, message.sequence);
            let Some(outcome) = self.answer(message).await else {
                return Ok(());
            };
            if let Err(failure) = &outcome {
                (self.log)(&format!("thrift: {method}: {failure}"));
            }
            if kind == MessageKind::Call {
                let bytes = encode(&reply(&method, sequence, &outcome));
                let written = tokio::time::timeout(PATIENCE, stream.write_all(&bytes)).await;
                match written {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => return Err(error.to_string()),
                    Err(_) => return Err("it does not read its answer".to_owned()),
                }
            }
        }
        Ok(())
    }

    /// The outcome of a call; `None` if the switch is shutting down.
    async fn answer(&self, message: Message) -> Option<Outcome> {
        let Message { name, fields, .. } = message;
        match name.as_str() {
            "standard:bm_load_new_config" => self.load(fields).await,
            "standard:bm_reset_state" => self.reset().await,
            "standard:bm_mgmt_get_info" => Some(Ok(Some(self.info()))),
            "simple_switch:get_time_since_epoch_us" => Some(Ok(Some(Value::I64(since_epoch())))),
            _ => {
                let called = self.device.run(move |device, ports, now| match name.split_once(':') {
                    Some((service, method)) => services::call(service, method, Fields(&fields), device, ports, now),
                    None => Err(Failure::UnknownMethod),
                });
                called.await.ok()
            }
        }
    }

    async fn load(&self, mut fields: Vec<(i16, Value)>) -> Option<Outcome> {
        if !self.identity.swap {
            let refusal = SwapCode::ConfigSwapDisabled.because("--disable-swap");
            return Some(Err(refusal.into()));
        }
        let Some((1, Value::String(json))) = fields.pop() else {
            let wrong = ArgumentError {
                field: 1,
                expected: "a string",
            };
            return Some(Err(wrong.into()));
        };
        // Compiling a large program takes seconds, so it runs neither on the data-plane thread nor on the servers'
        // threads.
        let program = tokio::task::spawn_blocking(|| Program::without_p4info(json))
            .await
            .ok()?;
        let program = match program {
            Ok(program) => program,
            Err(fault) => return Some(Err(SwapCode::ConfigSwapDisabled.because(fault.message).into())),
        };
        let loaded = self.device.run(move |device, _, _| device.load_for_swap(program));
        Some(loaded.await.ok()?.map(|()| None).map_err(Failure::from))
    }

    async fn reset(&self) -> Option<Outcome> {
        let config = self.device.run(|device, _, _| device.active_config()).await.ok()?;
        let Some(config) = config else {
            return Some(Err(Failure::NoProgram));
        };
        let program = tokio::task::spawn_blocking(|| Program::new(config)).await.ok()?;
        let restarted = self
            .device
            .run(move |device, _, _| program.and_then(|program| device.restart(program)));
        let restarted = restarted.await.ok()?;
        Some(restarted.map(|()| None).map_err(|fault| Failure::Refused(fault.into())))
    }

    fn info(&self) -> Value {
        Value::Struct(vec![
            (1, Value::I64(self.identity.device_id.cast_signed())),
            (2, Value::I32(i32::from(self.identity.thrift_port))),
        ])
    }
}

fn since_epoch() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let micros = since.as_secs() * MICROS_PER_SECOND + u64::from(since.subsec_micros());
    micros.cast_signed()
}

/// The next message; `None` if the client left between two messages. `waiting` holds bytes that have arrived but are
/// not used yet.
async fn next_message(stream: &mut TcpStream, waiting: &mut Vec<u8>) -> Result<Option<Message>, String> {
    if waiting.is_empty() {
        let mut first = [0; BUFFER];
        match stream.read(&mut first).await {
            Ok(0) => return Ok(None),
            Ok(count) => waiting.extend_from_slice(&first[..count]),
            // The client ended without closing the connection.
            Err(_) => return Ok(None),
        }
    }
    let complete = tokio::time::timeout(PATIENCE, complete(stream, waiting));
    complete
        .await
        .map_err(|_| "a message that does not end".to_owned())?
        .map(Some)
}

async fn complete(stream: &mut TcpStream, waiting: &mut Vec<u8>) -> Result<Message, String> {
    let mut chunk = vec![0; BUFFER];
    loop {
        let needed = match parse(waiting) {
            Ok((message, used)) => {
                waiting.drain(..used);
                return Ok(message);
            }
            Err(DecodeError::Incomplete(needed)) => needed,
            Err(DecodeError::Malformed(problem)) => return Err(problem),
        };
        while waiting.len() < needed {
            match stream.read(&mut chunk).await {
                Ok(0) => return Err("the connection ended within a message".to_owned()),
                Ok(count) => waiting.extend_from_slice(&chunk[..count]),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}
