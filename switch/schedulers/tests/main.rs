//! The models.

mod fdpa;
mod parameters;
mod worked_examples;
