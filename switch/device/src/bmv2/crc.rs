//! Parameters of the hashes `crc16_custom` and `crc32_custom`.

pub use p4sched_dataplane::CustomCrc as CrcParameters;

use super::{CrcCode, Refusal, Runtime};

impl Runtime<'_> {
    /// Sets the parameters of a hash of `width` bits.
    pub fn set_crc(&mut self, name: &str, width: u32, parameters: CrcParameters) -> Result<(), Refusal> {
        match self.pipeline.custom_crc(name) {
            None => Err(CrcCode::InvalidCalculationName.because(format!("no custom CRC '{name}'"))),
            Some((_, bits)) if bits != width => {
                Err(CrcCode::WrongTypeCalculation.because(format!("{name}: it has {bits} bits, not {width}")))
            }
            Some((crc, _)) => {
                self.pipeline.set_custom_crc(crc, parameters);
                Ok(())
            }
        }
    }
}
