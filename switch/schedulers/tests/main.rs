//! Tests of the models.

mod fdpa;
mod parameters;
mod worked_examples;
