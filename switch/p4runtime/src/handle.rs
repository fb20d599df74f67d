//! Sends requests to the thread that owns the device.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use p4sched_dataplane::Nanos;
use p4sched_device::{Device, Fault, Ports};
use tokio::sync::oneshot;
use tonic::Status;

use crate::awake::Awake;
use crate::status;

/// A request for the thread that owns the device. It runs between two packets; its last argument is the switch time.
pub type Job = Box<dyn FnOnce(&mut Device, &mut dyn Ports, Nanos) + Send>;

/// A short request that needs only the device.
pub type Edit = Box<dyn FnOnce(&mut Device, Nanos) + Send>;

/// Runs an edit immediately on the calling thread. Returns the edit if the thread that owns the device is not idle.
pub type Shortcut = Arc<dyn Fn(Edit) -> Option<Edit> + Send + Sync>;

/// Sends requests to the thread that owns the device.
#[derive(Clone)]
pub struct DeviceHandle {
    jobs: Sender<Job>,
    wake: Arc<dyn Fn() + Send + Sync>,
    shortcut: Option<Shortcut>,
    /// Number of jobs that were sent and have not started.
    waiting: Arc<AtomicUsize>,
    /// Keeps the thread awake after edits that ran immediately.
    awake: Awake,
}

impl DeviceHandle {
    /// Sends jobs through `jobs` to the thread that owns the device; `wake` wakes that thread.
    pub fn new(jobs: Sender<Job>, wake: Arc<dyn Fn() + Send + Sync>) -> DeviceHandle {
        DeviceHandle {
            jobs,
            wake,
            shortcut: None,
            waiting: Arc::default(),
            awake: Awake::new(),
        }
    }

    /// Uses the shortcut for edits when possible.
    #[must_use]
    pub fn with_shortcut(self, shortcut: Shortcut) -> DeviceHandle {
        let shortcut = Some(shortcut);
        DeviceHandle { shortcut, ..self }
    }

    /// Same as [`DeviceHandle::run`], for a short request that needs only the device. If the device's thread is idle,
    /// the request runs on the calling thread, so no thread needs to wake up for the request or its answer.
    ///
    /// # Errors
    /// Those of [`DeviceHandle::run`].
    pub async fn edit<R: Send + 'static>(
        &self,
        request: impl FnOnce(&mut Device, Nanos) -> R + Send + 'static,
    ) -> Result<R, Status> {
        let Some(shortcut) = &self.shortcut else {
            return self.run(move |device, _, now| request(device, now)).await;
        };
        let (answer, answered) = oneshot::channel();
        let edit: Edit = Box::new(move |device, now| {
            // If the request was cancelled, the answer has no receiver.
            let _ = answer.send(request(device, now));
        });
        // Requests that were sent earlier must run earlier.
        let left = match self.waiting.load(Ordering::Acquire) {
            0 => shortcut(edit),
            _ => Some(edit),
        };
        if let Some(edit) = left {
            self.send_job(move |device, _, now| edit(device, now))?;
            (self.wake)();
        } else {
            self.awake.stay();
        }
        answered.await.map_err(|_| stopping())
    }

    /// Runs a request on the device's thread, between two packets, and returns its answer.
    ///
    /// # Errors
    /// `UNAVAILABLE` if the switch is shutting down.
    pub async fn run<R: Send + 'static>(
        &self,
        request: impl FnOnce(&mut Device, &mut dyn Ports, Nanos) -> R + Send + 'static,
    ) -> Result<R, Status> {
        let answer = self.send(request)?;
        (self.wake)();
        answer.await.map_err(|_| stopping())
    }

    /// Runs requests one after the other, with packets in between. The answers are in the same order.
    ///
    /// # Errors
    /// Those of [`DeviceHandle::run`].
    pub async fn run_each<R: Send + 'static, F>(&self, requests: impl Iterator<Item = F>) -> Result<Vec<R>, Status>
    where
        F: FnOnce(&mut Device, &mut dyn Ports, Nanos) -> R + Send + 'static,
    {
        // All requests are sent before the first answer: in between, the thread sleeps at most once.
        let waiting = requests
            .map(|request| self.send(request))
            .collect::<Result<Vec<_>, _>>()?;
        (self.wake)();
        let mut answers = Vec::with_capacity(waiting.len());
        for answer in waiting {
            answers.push(answer.await.map_err(|_| stopping())?);
        }
        Ok(answers)
    }

    fn send<R: Send + 'static>(
        &self,
        request: impl FnOnce(&mut Device, &mut dyn Ports, Nanos) -> R + Send + 'static,
    ) -> Result<oneshot::Receiver<R>, Status> {
        let (answer, answered) = oneshot::channel();
        self.send_job(move |device, ports, now| {
            // If the request was cancelled, the answer has no receiver.
            let _ = answer.send(request(device, ports, now));
        })?;
        Ok(answered)
    }

    fn send_job(&self, job: impl FnOnce(&mut Device, &mut dyn Ports, Nanos) + Send + 'static) -> Result<(), Status> {
        let waiting = Arc::clone(&self.waiting);
        waiting.fetch_add(1, Ordering::AcqRel);
        let job: Job = Box::new(move |device, ports, now| {
            waiting.fetch_sub(1, Ordering::AcqRel);
            job(device, ports, now);
        });
        self.jobs.send(job).map_err(|_| stopping())
    }

    /// Same as [`DeviceHandle::run`], for a request that the device may refuse.
    ///
    /// # Errors
    /// The device's error, or `UNAVAILABLE`.
    pub async fn try_run<R: Send + 'static>(
        &self,
        request: impl FnOnce(&mut Device, &mut dyn Ports, Nanos) -> Result<R, Fault> + Send + 'static,
    ) -> Result<R, Status> {
        self.run(request).await?.map_err(status::of)
    }
}

fn stopping() -> Status {
    Status::unavailable("the switch is shutting down")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn an_edit_does_not_overtake_what_was_sent_before() {
        let (jobs, waiting) = mpsc::channel::<Job>();
        let overtaken = Arc::new(|_| panic!("the edit runs first"));
        let handle = DeviceHandle::new(jobs, Arc::new(|| {})).with_shortcut(overtaken);
        let (first, second) = (handle.clone(), handle);
        let job = tokio::spawn(async move { first.run(|_, _, _| ()).await });
        let edit = tokio::spawn(async move { second.edit(|_, _| ()).await });
        tokio::task::yield_now().await;
        assert_eq!(waiting.try_iter().count(), 2);
        drop((job, edit));
    }
}
