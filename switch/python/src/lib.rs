//! A Python module that runs the programs of `p4sched-tools` with models in Python (`p4sched.model`).
//!
//! The models run in the process and the thread of the simulation. A model that raises an exception, or breaks a rule of
//! schedulers, ends the run; the caller gets the exception.

mod model;

use std::collections::HashMap;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::model::{Types, maker};

/// Runs a program of `p4sched-tools`; returns its exit code. `words`: its name, such as `p4sched-simulate`, and its
/// arguments. `makers`: for each scheme with a model in Python, a function from (parameters, seed) to the model.
///
/// # Errors
/// The exception of a model.
#[pyfunction]
fn run(py: Python<'_>, words: Vec<OsString>, mut makers: HashMap<String, Py<PyAny>>) -> PyResult<u8> {
    let types = Types::new(py)?;
    let maker = |name: &str| makers.remove(name).map(|make| maker(make, types.clone()));
    let ended = catch_unwind(AssertUnwindSafe(|| p4sched_tools::main(words, maker)));
    match ended {
        Ok(code) => Ok(u8::from(code != ExitCode::SUCCESS)),
        Err(reason) => Err(match reason.downcast::<PyErr>() {
            Ok(error) => *error,
            Err(reason) => {
                let text = reason.downcast_ref::<String>().map(String::as_str);
                PyRuntimeError::new_err(text.unwrap_or("a fault of the simulator").to_owned())
            }
        }),
    }
}

#[pymodule]
fn p4sched_native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run, module)?)
}
