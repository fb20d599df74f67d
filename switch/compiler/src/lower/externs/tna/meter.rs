//! Meters with the chip's numbers of colours, and action selectors.

use crate::{
    ir::{Arg, Expr, Meter, Stmt, Ty},
    lower::{
        Lowerer, Object,
        assign::target,
        externs::{Args, tna::Extern},
        value::Value,
    },
    source::Span,
    syntax::ast::BinaryOp,
    typed::{tree::Instance, types::Type},
};

/// `MeterColor_t`: green, yellow, red.
const COLOURS: [u64; 3] = [0, 1, 3];

impl Lowerer<'_> {
    pub(super) fn colour_meter(&mut self, direct: bool, instance: &Instance, name: String) -> Object {
        let first = usize::from(!direct);
        let mut colours = COLOURS;
        // The constructor lists red, yellow, green.
        for (i, colour) in colours.iter_mut().rev().enumerate() {
            if let Some(Some(arg)) = instance.args.get(first + 1 + i) {
                let known = self.known(arg, "the colour");
                *colour = known.and_then(|c| u64::try_from(c).ok()).unwrap_or(0);
            }
        }
        let meter = Meter {
            colours: Some(colours),
            ..self.meter(instance, name, direct, &[])
        };
        self.ir.meters.push(meter);
        let index = self.ir.meters.len() - 1;
        if direct {
            let result = self.scalar("colour", Ty::bit(8), instance.span);
            self.ir.meters[index].result = target(&result);
        }
        Object::Meter(index)
    }

    /// `execute([index,] [colour] [, adjust_byte_count])`
    pub(super) fn colour(&mut self, meter: usize, args: Args, span: Span, out: &mut Vec<Stmt>) -> Value {
        let (direct, result) = (self.ir.meters[meter].direct, self.ir.meters[meter].result.clone());
        let found = if let Some(result) = result {
            Expr::new(crate::ir::ExprKind::Field(result), Ty::bit(8))
        } else {
            let name = Arg::Named("meter_array", self.ir.meters[meter].name.clone());
            let index = self.number_arg(args, 0, out);
            let variable = self.temporary(Ty::bit(8), span);
            let Some(field) = target(&variable) else {
                return Value::Nothing;
            };
            let args = vec![name, Arg::Value(index), Arg::Target(field)];
            Self::push(out, "execute_meter", args, span);
            variable.read().scalar()
        };
        // A packet never gets a better colour than it had before.
        let before = args.get(usize::from(!direct)).and_then(Option::as_ref);
        let before = before.filter(|e| matches!(e.ty, Type::Enum(_)));
        let Some(before) = before else {
            return Value::Scalar(found);
        };
        let before = self.scalar_of(before, out).cast(Ty::bit(8));
        let less = Expr::binary(BinaryOp::Less, found.clone(), before.clone(), Ty::Bool);
        Value::Scalar(Expr::conditional(less, before, found))
    }

    /// `ActionSelector(profile, hash, mode, ...)`, or the older `ActionSelector(size, hash, mode)`.
    pub(super) fn tna_selector(&mut self, instance: &Instance, name: String) -> Object {
        let mut objects = Vec::new();
        for arg in instance.args.iter().take(2).flatten() {
            objects.push(match self.value(arg, &mut Vec::new()) {
                Value::Object(object) => Some(object),
                _ => None,
            });
        }
        let Some(Some(Object::Tna(hash))) = objects.get(1) else {
            self.error(instance.span, "the second argument of ActionSelector must be a Hash");
            return Object::Unsupported;
        };
        let algorithm = match &self.tna.externs[*hash] {
            Extern::Hash(hash) => hash.name().to_owned(),
            _ => String::new(),
        };
        let Some(Some(Object::Profile(profile))) = objects.first().cloned() else {
            return self.profile(Some(algorithm), 0, instance, name);
        };
        // The last argument is the number of groups. The one before it is the size of the largest group.
        let largest = instance.args.iter().flatten().rev().nth(1);
        let largest = largest.and_then(|e| self.known(e, "the size of a group"));
        let known = &mut self.ir.profiles[profile];
        known.selector = Some((algorithm, Vec::new()));
        known.max_group = largest.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        Object::Profile(profile)
    }
}
