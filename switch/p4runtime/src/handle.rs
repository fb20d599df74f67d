//! The way of a request to the thread that owns the device.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use p4sched_dataplane::Nanos;
use p4sched_device::{Device, Fault, Ports};
use tokio::sync::oneshot;
use tonic::Status;

use crate::status;

/// A request on its way to the thread that owns the device. It runs between two packets, at the switch time passed in.
pub type Job = Box<dyn FnOnce(&mut Device, &mut dyn Ports, Nanos) + Send>;

/// The way to the thread that owns the device.
#[derive(Clone)]
pub struct DeviceHandle {
    jobs: Sender<Job>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl DeviceHandle {
    /// `jobs` leads to the thread that owns the device; `wake` makes it look.
    pub fn new(jobs: Sender<Job>, wake: Arc<dyn Fn() + Send + Sync>) -> DeviceHandle {
        DeviceHandle { jobs, wake }
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

    /// Runs requests one after the other, with packets in between; their answers in the same order.
    ///
    /// # Errors
    /// As [`DeviceHandle::run`].
    pub async fn run_each<R: Send + 'static, F>(&self, requests: impl Iterator<Item = F>) -> Result<Vec<R>, Status>
    where
        F: FnOnce(&mut Device, &mut dyn Ports, Nanos) -> R + Send + 'static,
    {
        // All are on their way before the first is answered: the thread sleeps in between no more often than once.
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
        let job: Job = Box::new(move |device, ports, now| {
            // The request may have been cancelled: then the answer has no receiver.
            let _ = answer.send(request(device, ports, now));
        });
        self.jobs.send(job).map_err(|_| stopping())?;
        Ok(answered)
    }

    /// As [`DeviceHandle::run`], for a request that the device may refuse.
    ///
    /// # Errors
    /// The device's fault, or `UNAVAILABLE`.
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
