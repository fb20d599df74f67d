//! `Hash`, `CRCPolynomial` and `Random`.

use num_bigint::BigInt;

use crate::{
    ir::{Arg, Expr, Polynomial as Parameters, Stmt, Ty},
    lower::{
        Lowerer, Object,
        assign::target,
        expr::concatenate,
        externs::{Args, tna::Extern},
        value::Value,
    },
    source::Span,
    typed::{
        tree::{ExprKind, Instance},
        types::Type,
    },
};

pub(in crate::lower) type Polynomial = Parameters;

/// An algorithm, and the type of its results.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Hash {
    algorithm: Algorithm,
    ty: Ty,
}

#[derive(Clone, Debug)]
enum Algorithm {
    /// The last bits of the data.
    Identity,
    Named(&'static str),
    Custom(Parameters),
}

impl Hash {
    /// The name of the algorithm in the JSON.
    pub fn name(&self) -> &'static str {
        match &self.algorithm {
            Algorithm::Identity => "identity",
            Algorithm::Named(name) => name,
            Algorithm::Custom(_) => "crc32",
        }
    }
}

impl Lowerer<'_> {
    pub(super) fn polynomial(&mut self, types: &[Type], instance: &Instance) -> Option<Parameters> {
        let width = types.first().and_then(|t| self.scalar_type(t)).map_or(32, Ty::width);
        if !(1..=64).contains(&width) {
            self.error(instance.span, "a CRC has 1 to 64 bits");
            return None;
        }
        let mut known = Vec::new();
        for arg in &instance.args {
            let value = arg.as_ref().and_then(|e| self.known(e, "a CRC's parameter"))?;
            known.push(crate::check::wrap(&value, false, width.max(1)));
        }
        let [coefficient, reversed, msb, extended, init, xor] = <[BigInt; 6]>::try_from(known).ok()?;
        let flag = |n: &BigInt| *n != BigInt::ZERO;
        Some(Parameters {
            width,
            reversed: flag(&reversed),
            msb: flag(&msb),
            extended: flag(&extended),
            output_width: width,
            coefficient,
            init,
            xor,
        })
    }

    pub(super) fn hash_object(&mut self, types: &[Type], instance: &Instance) -> Option<Hash> {
        let ty = types.first().and_then(|t| self.scalar_type(t));
        let Some(ty @ Ty::Bits { .. }) = ty.filter(|t| t.width() <= 64) else {
            self.error(instance.span, "the result of a Hash is a number of at most 64 bits");
            return None;
        };
        let name = instance.args.first()?.as_ref().map(|a| self.algorithm(a))?;
        let algorithm = match &*name {
            "IDENTITY" => Algorithm::Identity,
            "XOR8" => Algorithm::Named("xor8"),
            "XOR16" => Algorithm::Named("xor16"),
            "XOR32" => Algorithm::Named("xor32"),
            "CRC8" => Algorithm::Named("crc8"),
            "CRC16" => Algorithm::Named("crc16"),
            "CRC32" => Algorithm::Named("crc32"),
            "CRC64" => Algorithm::Named("crc64_custom"),
            // Any function that spreads its values well is allowed.
            "RANDOM" => Algorithm::Named("xxh64"),
            _ => {
                let made = instance.args.get(1).and_then(Option::as_ref);
                let Some(made) = made else {
                    self.error(instance.span, "the algorithm CUSTOM needs a CRCPolynomial");
                    return None;
                };
                match (&made.kind, self.value(made, &mut Vec::new())) {
                    (ExprKind::Instance(_) | ExprKind::Var(_), Value::Object(Object::Tna(index))) => {
                        match &self.tna.externs[index] {
                            Extern::Polynomial(polynomial) => Algorithm::Custom(polynomial.clone()),
                            _ => return None,
                        }
                    }
                    _ => return None,
                }
            }
        };
        Some(Hash { algorithm, ty })
    }

    pub(super) fn tna_hash(&mut self, hash: &Hash, args: Args, span: Span, out: &mut Vec<Stmt>) -> Value {
        let data = self.value_arg(args, 0, out);
        let input = self.inputs(data, span, out);
        let parameters = match &hash.algorithm {
            Algorithm::Identity => return Value::Scalar(last_bits(input, hash.ty)),
            Algorithm::Custom(parameters) => Some(Parameters {
                output_width: hash.ty.width(),
                ..parameters.clone()
            }),
            Algorithm::Named(_) => None,
        };
        let name = if parameters.is_some() { "crc_poly" } else { hash.name() };
        let result = self.hashed(name, parameters, input, hash.ty.width(), span, out);
        Value::Scalar(result.cast(hash.ty))
    }

    /// Result of a calculation in a new variable of `width` bits.
    pub(super) fn hashed(
        &mut self,
        algorithm: &str,
        parameters: Option<Parameters>,
        input: Vec<Expr>,
        width: u32,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Expr {
        let calculation = self.calculation(algorithm.to_owned(), input, false, span);
        self.ir.calculations[calculation].parameters = parameters;
        let name = Arg::Named("calculation", self.ir.calculations[calculation].name.clone());
        let variable = self.temporary(Ty::bit(width), span);
        if let Some(field) = target(&variable) {
            let size = Expr::int(&(BigInt::from(1) << width), Ty::bit(width + 1));
            let args = vec![
                Arg::Target(field),
                Arg::Value(Expr::number(0, 16)),
                name,
                Arg::Value(size),
            ];
            Self::push(out, "modify_field_with_hash_based_offset", args, span);
        }
        variable.read().scalar()
    }

    pub(super) fn random(&mut self, ty: Ty, span: Span, out: &mut Vec<Stmt>) -> Value {
        let variable = self.temporary(ty, span);
        if let Some(field) = target(&variable) {
            let most = (BigInt::from(1) << ty.width()) - 1;
            let range = [BigInt::ZERO, most].map(|n| Arg::Value(Expr::int(&n, Ty::bit(ty.width()))));
            let [low, high] = range;
            Self::push(
                out,
                "modify_field_rng_uniform",
                vec![Arg::Target(field), low, high],
                span,
            );
        }
        variable.read()
    }
}

/// The last bits of the joined values, as many as the type has.
fn last_bits(values: Vec<Expr>, ty: Ty) -> Expr {
    let mut joined: Option<Expr> = None;
    for value in values.into_iter().rev() {
        let known = joined.as_ref().map_or(0, |low: &Expr| low.ty.width());
        let more = value.ty.width().min(ty.width() - known);
        if more == 0 {
            break;
        }
        let value = value.cast(Ty::bit(more));
        joined = Some(match joined {
            None => value,
            Some(low) => concatenate(value, low, Ty::bit(known + more)),
        });
    }
    joined.unwrap_or(Expr::number(0, 1)).cast(ty)
}
