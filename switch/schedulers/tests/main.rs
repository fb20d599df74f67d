//! Tests of the models.

mod fdpa;
mod parameters;
mod variants;
mod worked_examples;
