//! The code that the list of schemes in `lib.rs` generates: a module for each scheme, and types for any scheme.

use crate::config::{ConfigError, Sizes};
use crate::described::{self, Described};
use crate::scheduler::Rank;
use crate::{Model, Scheme};

macro_rules! schemes {
    ($($module:ident: $Type:ident, $what:literal;)*) => {
        $(pub mod $module;)*

        /// A scheduler with a model here and a program in `p4/`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Scheme {
            $(#[doc = $what] $Type,)*
            /// A scheme that a file describes.
            Folder(&'static Described),
        }

        /// The configuration of a scheme.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Config {
            $(#[doc = $what] $Type(<$module::$Type as Reference>::Config),)*
            /// That of a scheme that a file describes.
            Folder(FolderConfig),
        }

        #[derive(Clone, Debug)]
        pub enum Model {
            $(#[doc = $what] $Type(Box<$module::$Type>),)*
            /// That of a scheme that a file describes.
            Folder(FolderModel),
        }

        impl Scheme {
            pub const ALL: &[Scheme] = &[$(Scheme::$Type,)*];

            /// The name on command lines, in file names and in `p4/`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Scheme::$Type => stringify!($module),)*
                    Scheme::Folder(described) => described.name,
                }
            }

            /// The P4 program, and the port that it needs.
            pub fn p4(self) -> P4 {
                match self {
                    $(Scheme::$Type => <$module::$Type as Reference>::P4,)*
                    Scheme::Folder(described) => described.p4,
                }
            }

            /// The part that drops a packet at a full queue, for the program of this target.
            pub fn tail_drop(self, target: Target) -> TailDrop {
                match self {
                    $(Scheme::$Type => <$module::$Type as Reference>::tail_drop(target),)*
                    Scheme::Folder(described) => described::tail_drop(described, target),
                }
            }

            /// The targets that have a program of this scheme.
            pub fn targets(self) -> &'static [Target] {
                match self {
                    $(Scheme::$Type => <$module::$Type as Reference>::TARGETS,)*
                    Scheme::Folder(described) => described.targets,
                }
            }

            /// The variants that the model knows.
            pub fn variants(self) -> &'static [Variant] {
                match self {
                    $(Scheme::$Type => <$module::$Type as Reference>::VARIANTS,)*
                    Scheme::Folder(_) => &[],
                }
            }

            /// Whether the rule reads the lengths of the queues, so that they may be old or in cells.
            pub fn reads_lengths(self) -> bool {
                match self {
                    $(Scheme::$Type => <$module::$Type as Reference>::READS_LENGTHS,)*
                    Scheme::Folder(_) => false,
                }
            }

            /// Whether the queues can share the memory of a switch.
            pub fn shares_memory(self) -> bool {
                match self {
                    $(Scheme::$Type => <$module::$Type as Reference>::SHARES_MEMORY,)*
                    Scheme::Folder(_) => false,
                }
            }

            /// The v1model configuration for the arguments of the action [`P4::action`], in the order of
            /// [`P4::parameters`]. An argument of 0 stands for a missing one.
            ///
            /// # Errors
            /// If a value is out of range, or the number of arguments differs from the number of parameters.
            pub fn from_arguments(self, arguments: &[u64]) -> Result<Config, ConfigError> {
                let expected = self.p4().parameters.len();
                if arguments.len() != expected {
                    let (parameter, reason) = ("parameters", "the program's action has so many");
                    return Err(ConfigError::Count { parameter, found: arguments.len(), expected, reason });
                }
                Ok(match self {
                    $(Scheme::$Type => Config::$Type(<$module::$Type as Reference>::from_arguments(arguments)?),)*
                    Scheme::Folder(described) => Config::Folder(described.from_arguments(arguments)?),
                })
            }

            /// The configuration for these sizes.
            ///
            /// # Errors
            /// If sizes alone do not determine it.
            pub fn config(self, sizes: &Sizes) -> Result<Config, ConfigError> {
                Ok(match self {
                    $(Scheme::$Type => Config::$Type(<$module::$Type as Reference>::config(sizes)?),)*
                    Scheme::Folder(described) => Config::Folder(described.config(sizes)?),
                })
            }

            /// A random configuration that the program supports. If `before` is of the same scheme, the model can
            /// change from it.
            pub fn draw(self, random: &mut dyn RngCore, before: Option<&Config>) -> Config {
                match self {
                    $(Scheme::$Type => {
                        let before = match before {
                            Some(Config::$Type(config)) => Some(config),
                            _ => None,
                        };
                        Config::$Type(<$module::$Type as Reference>::draw(random, before))
                    })*
                    Scheme::Folder(described) => Config::Folder(described.draw(random)),
                }
            }
        }

        impl Config {
            /// A model with empty queues.
            ///
            /// # Errors
            /// If the model refuses the configuration.
            pub fn model(&self) -> Result<Model, ConfigError> {
                Ok(match self {
                    $(Config::$Type(config) => {
                        Model::$Type(Box::new(<$module::$Type as Reference>::model(config)?))
                    })*
                    Config::Folder(config) => Model::Folder(config.model()?),
                })
            }

            /// The configuration that the program of this target actually has.
            pub fn on(self, target: Target) -> Config {
                match self {
                    $(Config::$Type(config) => Config::$Type(<$module::$Type as Reference>::on(config, target)),)*
                    Config::Folder(config) => Config::Folder(config),
                }
            }

            /// The scheme of this configuration.
            pub fn scheme(&self) -> Scheme {
                match self {
                    $(Config::$Type(_) => Scheme::$Type,)*
                    Config::Folder(config) => Scheme::Folder(config.scheme),
                }
            }

            /// Sizes of the queues in packets, the most urgent first.
            pub fn queue_sizes(&self) -> &[usize] {
                match self {
                    $(Config::$Type(config) => <$module::$Type as Reference>::queue_sizes(config),)*
                    Config::Folder(config) => &config.queue_sizes,
                }
            }

            /// The arguments of the action [`P4::action`], in the order of [`P4::parameters`]. `sizes` are the queue
            /// sizes that the program keeps to; empty if the traffic manager does.
            pub fn arguments(&self, sizes: &[usize]) -> Vec<u64> {
                match self {
                    $(Config::$Type(config) => <$module::$Type as Reference>::arguments(config, sizes),)*
                    Config::Folder(config) => config.arguments(),
                }
            }
        }

        impl Model {
            /// Changes the configuration while packets wait.
            ///
            /// # Errors
            /// If the model refuses the configuration. Then nothing has changed.
            ///
            /// # Panics
            /// If the configuration is of another scheme.
            pub fn reconfigure(&mut self, config: &Config) -> Result<(), ConfigError> {
                match (self, config) {
                    $((Model::$Type(model), Config::$Type(config)) => model.reconfigure(config),)*
                    (Model::Folder(model), Config::Folder(config)) => model.reconfigure(config),
                    (_, config) => panic!("{config:?} is for another scheme"),
                }
            }

            /// Makes a model for v1model follow these of the variants of its scheme, and the text of the papers in all
            /// else.
            pub fn vary(&mut self, variants: Variants) {
                match self {
                    $(Model::$Type(model) => model.vary(variants),)*
                    Model::Folder(_) => {}
                }
            }

            /// Makes a model for v1model with empty queues know their lengths so, if its rule reads them.
            pub fn know(&mut self, knowledge: Knowledge) {
                match self {
                    $(Model::$Type(model) => model.know(knowledge),)*
                    Model::Folder(_) => {}
                }
            }

            /// Makes a model for v1model let a user return to a more urgent band only after so many microseconds, if the
            /// scheme has bands of users; 0: at once.
            pub fn hold(&mut self, hold_us: u32) {
                match self {
                    $(Model::$Type(model) => model.hold(hold_us),)*
                    Model::Folder(_) => {}
                }
            }

            /// Gives a model for v1model an empty table of flowlets with these settings, if it follows
            /// [`Variant::FlowletQueue`].
            pub fn keep_flowlets(&mut self, config: FlowletConfig) {
                match self {
                    $(Model::$Type(model) => model.keep_flowlets(config),)*
                    Model::Folder(_) => {}
                }
            }

            /// The bounds of the queues now, the most urgent first; empty if the rule has none. SP-PIFO: the lowest rank
            /// that a queue takes; PACKS: the highest one, `Rank::MAX` if it takes every rank, 0 if it takes none.
            pub fn bounds(&self) -> Vec<Rank> {
                match self {
                    $(Model::$Type(model) => Reference::bounds(&**model),)*
                    Model::Folder(_) => Vec::new(),
                }
            }

            /// Packets in a queue.
            pub fn length(&self, queue: usize) -> usize {
                match self {
                    $(Model::$Type(model) => Reference::length(&**model, queue),)*
                    Model::Folder(model) => model.len(),
                }
            }

            /// Sets the length from which the memory has no room for one more packet of a queue, if the scheme
            /// [shares memory](Scheme::shares_memory). The rule does not see it.
            pub fn set_threshold(&mut self, queue: usize, packets: usize) {
                match self {
                    $(Model::$Type(model) => model.set_threshold(queue, packets),)*
                    Model::Folder(_) => {}
                }
            }

            /// Makes the rule of a scheme that shares memory take this for the size of a queue, if it reads sizes.
            pub fn set_size(&mut self, queue: usize, packets: usize) {
                match self {
                    $(Model::$Type(model) => model.set_size(queue, packets),)*
                    Model::Folder(_) => {}
                }
            }

            /// Removes the packet that a queue gives up to the memory, if the scheme shares memory.
            pub fn give_up(&mut self, queue: usize) -> Option<Packet> {
                match self {
                    $(Model::$Type(model) => model.give_up(queue),)*
                    Model::Folder(_) => None,
                }
            }

            /// Gives a user the weight 256 / scale, if the scheme has users.
            #[inline]
            pub fn set_user_scale(&mut self, user: u32, scale: u32) {
                match self {
                    $(Model::$Type(model) => model.set_user_scale(user, scale),)*
                    Model::Folder(model) => model.set_user_scale(user, scale),
                }
            }

            /// Fills the window, if there is one, with the last of these ranks.
            ///
            /// # Errors
            /// If there are fewer ranks than the window holds.
            pub fn remember(&mut self, past: &[Rank]) -> Result<(), ConfigError> {
                match self {
                    $(Model::$Type(model) => model.remember(past),)*
                    Model::Folder(model) => model.remember(past),
                }
            }

            /// Starts a worker packet that brings the length of the queue to ingress, if the scheme's program supports
            /// it. The queue must be empty.
            pub fn start_worker(&mut self, worker: Worker) {
                match self {
                    $(Model::$Type(model) => model.start_worker(worker),)*
                    Model::Folder(_) => {}
                }
            }

            /// The queue length in packets that the worker packet has brought by `now`; `None` without a worker packet.
            pub fn length_from_worker(&self, now: Nanos) -> Option<u64> {
                match self {
                    $(Model::$Type(model) => model.length_from_worker(now),)*
                    Model::Folder(_) => None,
                }
            }

            /// The state of the model next to the same state of the program. `register` reads the port's cell of a
            /// register. Register names are relative to the ingress control.
            pub fn compare(&self, register: &dyn Fn(&str) -> u64) -> Option<StatePart> {
                match self {
                    $(Model::$Type(model) => model.compare(register),)*
                    Model::Folder(_) => None,
                }
            }
        }

        impl Scheduler for Model {
            #[inline(always)]
            fn enqueue(&mut self, now: Nanos, packet: Packet) -> Verdict {
                match self {
                    $(Model::$Type(model) => model.enqueue(now, packet),)*
                    Model::Folder(model) => model.enqueue(now, packet),
                }
            }

            #[inline(always)]
            fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
                match self {
                    $(Model::$Type(model) => model.dequeue(now),)*
                    Model::Folder(model) => model.dequeue(now),
                }
            }

            fn len(&self) -> usize {
                match self {
                    $(Model::$Type(model) => model.len(),)*
                    Model::Folder(model) => model.len(),
                }
            }
        }
    };
}

pub(crate) use schemes;

impl Scheme {
    pub fn named(name: &str) -> Option<Scheme> {
        Scheme::all().into_iter().find(|scheme| scheme.name() == name)
    }

    /// True if models can decide: not for a scheme of a file that describes only a program.
    pub fn has_model(self) -> bool {
        !matches!(self, Scheme::Folder(described) if described.maker.is_none())
    }

    /// True for a scheme of a file whose port tells users apart.
    pub fn tells_users_apart(self) -> bool {
        let apart = |scheme: &Described| scheme.port.user_field.is_some() || scheme.port.leaf_field.is_some();
        matches!(self, Scheme::Folder(described) if apart(described))
    }

    /// Names of the parameters of the program's action: its `parameters` without the settings of the port.
    pub fn action_parameters(self) -> Vec<&'static str> {
        let names = self.p4().parameters.iter().copied();
        match self {
            Scheme::Folder(described) => names
                .zip(&described.parameters)
                .filter(|(_, parameter)| !parameter.of_port)
                .map(|(name, _)| name)
                .collect(),
            _ => names.collect(),
        }
    }

    /// All schemes: those of the list in `lib.rs`, and those of [`described::register`].
    pub fn all() -> Vec<Scheme> {
        let described = described::known().into_iter().map(Scheme::Folder);
        Scheme::ALL.iter().copied().chain(described).collect()
    }
}

impl Sizes {
    /// The model of a scheme. If `past` is not empty, windows start with its last ranks.
    ///
    /// # Errors
    /// If a size is out of range, sizes alone do not determine the scheme, or `past` is shorter than the window.
    pub fn model(&self, scheme: Scheme, past: &[Rank]) -> Result<Model, ConfigError> {
        let mut model = scheme.config(self)?.on(self.target).model()?;
        if !past.is_empty() {
            model.remember(past)?;
        }
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_is_found_by_its_name_and_its_program_has_one_argument_for_each_parameter() {
        let random = &mut rand::rng();
        for &scheme in Scheme::ALL {
            assert_eq!(Scheme::named(scheme.name()), Some(scheme));
            let config = scheme.draw(random, None);
            assert_eq!(config.scheme(), scheme);
            for sizes in [config.queue_sizes(), &[]] {
                assert_eq!(
                    config.arguments(sizes).len(),
                    scheme.p4().parameters.len(),
                    "{scheme:?}"
                );
            }
        }
        assert_eq!(Scheme::named("wfq"), None);
    }

    #[test]
    fn arguments_make_the_configuration_that_they_came_from() {
        let random = &mut rand::rng();
        for &scheme in Scheme::ALL {
            for _ in 0..100 {
                let config = scheme.draw(random, None);
                let arguments = config.arguments(config.queue_sizes());
                assert_eq!(scheme.from_arguments(&arguments), Ok(config), "{arguments:?}");
            }
            let error = scheme.from_arguments(&[1; 4]).unwrap_err().to_string();
            assert!(error.starts_with("parameters: 4 values given, "), "{error}");
        }
    }
}
