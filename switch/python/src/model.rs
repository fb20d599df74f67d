//! A model in Python, as a scheduler of the simulator.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use p4sched_schedulers::described::{FolderConfig, Foreign, Maker};
use p4sched_schedulers::{ConfigError, Nanos, Packet, Scheduler, Verdict};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Largest number of queues of a model.
const MOST_QUEUES: usize = 64;
/// 256 / weight, for weight 1.
const UNIT_SCALE: u32 = 256;

/// The types of `p4sched.model`.
#[derive(Clone, Debug)]
pub struct Types(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    packet: Py<PyAny>,
    queued: Py<PyAny>,
    refused: Py<PyAny>,
    full: Py<PyAny>,
    deepcopy: Py<PyAny>,
}

impl Types {
    /// # Errors
    /// If the module cannot be imported.
    pub fn new(py: Python<'_>) -> PyResult<Types> {
        let module = py.import("p4sched.model")?;
        let item = |name: &str| module.getattr(name).map(Bound::unbind);
        Ok(Types(Arc::new(Shared {
            packet: item("Packet")?,
            queued: item("Queued")?,
            refused: item("REFUSED")?,
            full: item("FULL")?,
            deepcopy: py.import("copy")?.getattr("deepcopy")?.unbind(),
        })))
    }
}

/// Makes models with a Python function.
pub fn maker(make: Py<PyAny>, types: Types) -> Maker {
    let seeds = AtomicU64::new(1);
    Box::new(move |config| {
        let seed = seeds.fetch_add(1, Ordering::Relaxed);
        let made = Python::attach(|py| -> PyResult<Py<PyAny>> {
            let model = make.call1(py, (parameters(py, config)?, seed))?;
            Ok(model)
        });
        let model = made.unwrap_or_else(|error| fail(error));
        Ok(Box::new(PythonModel {
            name: config.scheme.name,
            model,
            types: types.clone(),
            waiting: HashMap::new(),
            scales: HashMap::new(),
        }) as Box<dyn Foreign>)
    })
}

fn parameters<'py>(py: Python<'py>, config: &FolderConfig) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (parameter, value) in config.scheme.parameters.iter().zip(&config.arguments) {
        found.set_item(&parameter.name, value)?;
    }
    Ok(found)
}

/// Ends the run with an exception. `run` of this module catches it.
fn fail(error: PyErr) -> ! {
    resume_unwind(Box::new(error))
}

#[derive(Debug)]
struct PythonModel {
    name: &'static str,
    model: Py<PyAny>,
    types: Types,
    /// Waiting packets by number.
    waiting: HashMap<u64, Packet>,
    /// 256 / weight of the users whose weight is not 1.
    scales: HashMap<u32, u32>,
}

impl PythonModel {
    fn wrong<T>(&self, reason: &str) -> PyResult<T> {
        Err(PyValueError::new_err(format!("{}: {reason}", self.name)))
    }

    /// The waiting packet that the model means. It is then no longer waiting.
    fn taken(&mut self, packet: &Bound<'_, PyAny>, what: &str) -> PyResult<Packet> {
        let id = packet
            .getattr(intern!(packet.py(), "id"))
            .and_then(|id| id.extract::<u64>());
        match id.ok().and_then(|id| self.waiting.remove(&id)) {
            Some(packet) => Ok(packet),
            None => self.wrong(&format!("{what} {packet}, which does not wait")),
        }
    }

    fn offer(&mut self, py: Python<'_>, now: Nanos, packet: Packet) -> PyResult<Verdict> {
        let Packet {
            id,
            rank,
            user,
            flow,
            len,
        } = packet;
        let shared = Arc::clone(&self.types.0);
        let scale = self.scales.get(&user).copied().unwrap_or(UNIT_SCALE);
        let weight = f64::from(UNIT_SCALE) / f64::from(scale);
        let arriving = shared.packet.bind(py).call1((id, rank, user, flow, len, weight))?;
        let verdict = self
            .model
            .bind(py)
            .call_method1(intern!(py, "enqueue"), (arriving, now))?;
        if verdict.is(&shared.refused) {
            return Ok(Verdict::DroppedByAdmission);
        }
        if verdict.is(&shared.full) {
            return Ok(Verdict::DroppedFull);
        }
        if !verdict.is_instance(shared.queued.bind(py))? {
            return self.wrong(&format!(
                "enqueue returned {verdict}; it returns Queued(queue), REFUSED or FULL"
            ));
        }
        let queue = verdict.getattr(intern!(py, "queue"))?.extract::<usize>();
        let Ok(queue) = queue.map(|queue| queue.min(MOST_QUEUES)) else {
            return self.wrong("enqueue chose a queue that is no number from 0");
        };
        if queue == MOST_QUEUES {
            return self.wrong(&format!("enqueue chose a queue above {}", MOST_QUEUES - 1));
        }
        self.waiting.insert(id, packet);
        let victim = verdict.getattr(intern!(py, "pushed_out"))?;
        if victim.is_none() {
            return Ok(Verdict::Queued { queue });
        }
        let victim = self.taken(&victim, "enqueue pushed out")?;
        Ok(Verdict::PushedOut { queue, victim })
    }

    fn take(&mut self, py: Python<'_>, now: Nanos) -> PyResult<Option<Packet>> {
        if self.waiting.is_empty() {
            return Ok(None);
        }
        let packet = self.model.bind(py).call_method1(intern!(py, "dequeue"), (now,))?;
        if packet.is_none() {
            return self.wrong(&format!(
                "dequeue returned None, while {} packets wait",
                self.waiting.len()
            ));
        }
        self.taken(&packet, "dequeue returned").map(Some)
    }
}

impl Scheduler for PythonModel {
    fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
        Python::attach(|py| self.offer(py, now, packet)).unwrap_or_else(|error| fail(error))
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        Python::attach(|py| self.take(py, now)).unwrap_or_else(|error| fail(error))
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}

impl Foreign for PythonModel {
    fn reconfigure(&mut self, config: &FolderConfig) -> Result<(), ConfigError> {
        let set = Python::attach(|py| {
            let parameters = parameters(py, config)?;
            self.model
                .call_method1(py, intern!(py, "set_parameters"), (parameters,))
        });
        set.map(drop)
            .map_err(|error| ConfigError::Folder(format!("{}: {error}", self.name)))
    }

    fn copy(&self) -> Box<dyn Foreign> {
        let copied = Python::attach(|py| self.types.0.deepcopy.call1(py, (&self.model,)));
        Box::new(PythonModel {
            name: self.name,
            model: copied.unwrap_or_else(|error| fail(error)),
            types: self.types.clone(),
            waiting: self.waiting.clone(),
            scales: self.scales.clone(),
        })
    }

    fn set_user_scale(&mut self, user: u32, scale: u32) {
        if scale == UNIT_SCALE {
            self.scales.remove(&user);
        } else {
            self.scales.insert(user, scale);
        }
    }
}
