//! Low-pass filters and random early detection.
//!
//! P4Runtime has no entity for the parameters of a filter, which the chip's driver sets. So a program for this switch
//! gives them in an annotation. Their order and units are those of the driver (open-p4studio, pipe_mgr_intf.h). The
//! chip's compiler ignores the annotation:
//!
//!   @lpf_spec(time constant while it rises, while it falls, bits that the result is shifted right)
//!   @wred_spec(time constant, min, max, largest probability in percent)
//!
//! Times are in ns. Without the annotation, an `Lpf` returns its sample, and a `Wred` drops nothing.

use super::{Extern, register::INDEX};
use crate::{
    ir::{Arg, Filter, FilterUse, Stmt, Ty},
    lower::{Lowerer, assign::target, externs::Args, value::Value},
    source::Span,
    typed::{
        annotations::{has, numbers_of},
        tree::Instance,
        types::Type,
    },
};

/// Type of a result of `Wred`.
const VERDICT: Ty = Ty::Bits {
    signed: false,
    width: 8,
};
const MAX_SCALE: u64 = 31;
const MAX_NUMBER: u64 = u32::MAX as u64;

impl Lowerer<'_> {
    /// `Lpf<T, I>(size)`, `DirectLpf<T>()`
    pub(super) fn low_pass(
        &mut self,
        direct: bool,
        types: &[Type],
        instance: &Instance,
        name: String,
    ) -> Option<usize> {
        let form = "@lpf_spec(gain ns, decay ns, scale down 0 .. 31)";
        let fits = |n: &[u64; 3]| n[2] <= MAX_SCALE;
        let unset = "returns its samples as they are";
        let [gain, decay, scale_down] = self.spec("lpf_spec", form, fits, unset, instance)?.unwrap_or([0; 3]);
        let of = FilterUse::LowPass {
            gain,
            decay,
            scale_down,
        };
        self.filter(direct, of, types, instance, name)
    }

    /// `Wred<T, I>(size, drop value, no drop value)`, `DirectWred<T>(drop value, no drop value)`
    pub(super) fn red(&mut self, direct: bool, types: &[Type], instance: &Instance, name: String) -> Option<usize> {
        let form = "@wred_spec(time constant ns, min, max, probability 1 .. 100 percent) with min <= max";
        let fits = |n: &[u64; 4]| n[1] <= n[2] && (1..=100).contains(&n[3]);
        let unset = "drops nothing";
        let spec = self.spec("wred_spec", form, fits, unset, instance)?;
        let first = usize::from(!direct);
        let mut result = |at: usize| -> Option<u64> {
            let arg = instance.args.get(first + at)?.as_ref()?;
            u64::try_from(self.known(arg, "the value")?).ok()
        };
        let (drop, no_drop) = (result(0)?, result(1)?);
        // No sample is above this.
        let [time, min, max, probability] = spec.unwrap_or([0, MAX_NUMBER, MAX_NUMBER, 100]);
        let of = FilterUse::Red {
            time,
            min,
            max,
            probability,
            drop,
            no_drop,
        };
        self.filter(direct, of, types, instance, name)
    }

    /// Numbers of an annotation. Without the annotation: none, and a warning. `None` after an error.
    fn spec<const N: usize>(
        &mut self,
        annotation: &str,
        form: &str,
        fits: impl Fn(&[u64; N]) -> bool,
        unset: &str,
        instance: &Instance,
    ) -> Option<Option<[u64; N]>> {
        if !has(&instance.annotations, annotation) {
            let message = format!("without {form}, '{}' {unset} in this switch", instance.name);
            self.reporter.warning("filter", instance.span, message);
            return Some(None);
        }
        let numbers: Option<[u64; N]> = numbers_of(&instance.annotations, annotation).try_into().ok();
        match numbers.filter(|n| fits(n) && n.iter().all(|&n| n <= MAX_NUMBER)) {
            Some(numbers) => Some(Some(numbers)),
            None => {
                self.error(instance.span, format!("it should be {form}"));
                None
            }
        }
    }

    fn filter(
        &mut self,
        direct: bool,
        of: FilterUse,
        types: &[Type],
        instance: &Instance,
        name: String,
    ) -> Option<usize> {
        let sample = types.first().and_then(|t| self.scalar_type(t));
        let fits = |t: &Ty| matches!(t, Ty::Bits { signed: false, .. }) && (1..=32).contains(&t.width());
        let Some(sample) = sample.filter(fits) else {
            self.error(instance.span, "a filter takes numbers without sign, of 1 to 32 bits");
            return None;
        };
        let size = if direct { 0 } else { self.size_arg(instance, 0) };
        self.ir.filters.push(Filter {
            name,
            of,
            size,
            direct,
            sample,
            span: instance.span,
        });
        Some(self.ir.filters.len() - 1)
    }

    /// Adds `filters = ...` of a table: a direct filter gets one cell for each entry.
    pub(in crate::lower) fn bind_filter(&mut self, table: usize, object: usize, span: Span) {
        let Extern::Filter(filter) = self.tna.externs[object] else {
            return self.error(span, "the property 'filters' must be an Lpf or a Wred");
        };
        let bound = &mut self.ir.filters[filter];
        if !bound.direct {
            return;
        }
        if bound.size != 0 {
            return self.error(span, "a direct filter belongs to one table only");
        }
        bound.size = self.ir.tables[table].size;
        self.ir.tables[table].filters.push(filter);
        self.put_entry_cell(table);
    }

    /// `execute(sample [, index])`
    pub(super) fn filtered(&mut self, filter: usize, args: Args, span: Span, out: &mut Vec<Stmt>) -> Value {
        let Filter {
            name,
            of,
            direct,
            sample: ty,
            ..
        } = self.ir.filters[filter].clone();
        let sample = self.number_arg(args, 0, out).cast(ty);
        let index = if direct {
            self.entry_cell()
        } else {
            self.number_arg(args, 1, out).cast(INDEX)
        };
        let (op, result) = match of {
            FilterUse::LowPass { .. } => ("execute_lpf", ty),
            FilterUse::Red { .. } => ("execute_wred", VERDICT),
        };
        let result = self.temporary(result, span);
        let Some(field) = target(&result) else {
            return Value::Nothing;
        };
        let name = Arg::Named("filter_array", name);
        let args = vec![name, Arg::Value(index), Arg::Value(sample), Arg::Target(field)];
        Self::push(out, op, args, span);
        result.read()
    }
}
