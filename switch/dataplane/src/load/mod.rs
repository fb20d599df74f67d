//! Loads a program: BMv2 JSON becomes flat operations over fixed slots.

mod actions;
mod arrays;
mod builder;
mod calculation;
mod expr;
mod flow;
mod graph;
mod json;
mod layout;
mod linear;
mod lower;
mod parser;
mod primitive;
mod program;
mod range;
mod statement;
mod table_key;
mod tna;
mod v1model;
