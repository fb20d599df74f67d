//! Compares programs with their models.

mod multipath;
mod programs;
mod restrictions;
mod worker;
