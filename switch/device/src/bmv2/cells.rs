//! Arrays: counters, meters, registers.

use p4sched_dataplane::{Count, CounterId, MeterConfig, MeterId, RegisterId};

use super::{CounterCode, MeterCode, Refusal, RegisterCode, Runtime};

/// The cell number for this index, if the array has such a cell.
fn cell(index: i32, size: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|&index| index < size)
}

impl Runtime<'_> {
    fn counter(&self, name: &str) -> Result<(CounterId, usize), Refusal> {
        let counter = self.pipeline.counter(name);
        let counter = counter.ok_or_else(|| CounterCode::InvalidCounterName.because(format!("no counter '{name}'")))?;
        Ok((counter, self.pipeline.counter_size(counter)))
    }

    fn counter_cell(&self, name: &str, index: i32) -> Result<(CounterId, usize), Refusal> {
        let (counter, size) = self.counter(name)?;
        let cell = cell(index, size);
        let problem = || CounterCode::InvalidIndex.because(format!("{name}: no cell {index}, it has {size}"));
        Ok((counter, cell.ok_or_else(problem)?))
    }

    pub fn counter_read(&self, name: &str, index: i32) -> Result<Count, Refusal> {
        let (counter, cell) = self.counter_cell(name, index)?;
        let read = self.pipeline.counter_read(counter, cell);
        read.map_err(|error| CounterCode::InvalidIndex.because(error.to_string()))
    }

    /// Sets a cell of a counter.
    pub fn counter_write(&mut self, name: &str, index: i32, count: Count) -> Result<(), Refusal> {
        let (counter, cell) = self.counter_cell(name, index)?;
        let written = self.pipeline.counter_write(counter, cell, count);
        written.map_err(|error| CounterCode::InvalidIndex.because(error.to_string()))
    }

    /// Sets all cells of a counter to 0.
    pub fn counter_reset(&mut self, name: &str) -> Result<(), Refusal> {
        let (counter, size) = self.counter(name)?;
        for cell in 0..size {
            let written = self.pipeline.counter_write(counter, cell, Count::default());
            written.map_err(|error| CounterCode::InvalidIndex.because(error.to_string()))?;
        }
        Ok(())
    }
}

impl Runtime<'_> {
    fn meter(&self, name: &str) -> Result<(MeterId, usize), Refusal> {
        let meter = self.pipeline.meter(name);
        let meter = meter.ok_or_else(|| MeterCode::InvalidMeterName.because(format!("no meter '{name}'")))?;
        Ok((meter, self.pipeline.meter_size(meter)))
    }

    fn meter_cell(&self, name: &str, index: i32) -> Result<(MeterId, usize), Refusal> {
        let (meter, size) = self.meter(name)?;
        let cell = cell(index, size);
        let problem = || MeterCode::InvalidIndex.because(format!("{name}: no cell {index}, it has {size}"));
        Ok((meter, cell.ok_or_else(problem)?))
    }

    /// The configuration of a meter's cell; `None` while it is not configured.
    pub fn meter_read(&self, name: &str, index: i32) -> Result<Option<MeterConfig>, Refusal> {
        let (meter, cell) = self.meter_cell(name, index)?;
        let read = self.pipeline.meter_read(meter, cell);
        read.map_err(|error| MeterCode::InvalidIndex.because(error.to_string()))
    }

    /// Configures one cell of a meter, or all of them.
    pub fn meter_write(&mut self, name: &str, index: Option<i32>, config: MeterConfig) -> Result<(), Refusal> {
        let (meter, cells) = match index {
            Some(index) => self
                .meter_cell(name, index)
                .map(|(meter, cell)| (meter, cell..cell + 1))?,
            None => self.meter(name).map(|(meter, size)| (meter, 0..size))?,
        };
        for cell in cells {
            let written = self.pipeline.meter_write(meter, cell, Some(config));
            written.map_err(|error| MeterCode::InvalidInfoRateValue.because(error.to_string()))?;
        }
        Ok(())
    }
}

impl Runtime<'_> {
    fn register(&self, name: &str) -> Result<(RegisterId, usize), Refusal> {
        let register = self.pipeline.register(name);
        let problem = || RegisterCode::InvalidRegisterName.because(format!("no register '{name}'"));
        let register = register.ok_or_else(problem)?;
        Ok((register, self.pipeline.register_size(register)))
    }

    fn register_value(&self, name: &str, register: RegisterId, cell: usize) -> Result<i64, Refusal> {
        let bytes = self.pipeline.register_read(register, cell);
        let bytes = bytes.map_err(|_| RegisterCode::InvalidIndex.because(format!("{name}: no cell {cell}")))?;
        // The interface has 64 bits; of a wider cell, it shows the low 64 bits.
        let low = bytes.iter().rev().take(8).rev();
        Ok(low
            .fold(0_u64, |value, &byte| value << 8 | u64::from(byte))
            .cast_signed())
    }

    /// The low 64 bits of a register's cell.
    pub fn register_read(&self, name: &str, index: i32) -> Result<i64, Refusal> {
        let (register, size) = self.register(name)?;
        let cell = cell(index, size);
        let problem = || RegisterCode::InvalidIndex.because(format!("{name}: no cell {index}, it has {size}"));
        self.register_value(name, register, cell.ok_or_else(problem)?)
    }

    pub fn register_read_all(&self, name: &str) -> Result<Vec<i64>, Refusal> {
        let (register, size) = self.register(name)?;
        (0..size)
            .map(|cell| self.register_value(name, register, cell))
            .collect()
    }

    /// Writes `value` to the cells `first..end`; bits that do not fit into a cell are cut off.
    pub fn register_write(&mut self, name: &str, first: i32, end: i32, value: i64) -> Result<(), Refusal> {
        let (register, size) = self.register(name)?;
        let index = &self.forwarding.index;
        if index.queue_depth_registers.iter().any(|owned| owned == name) {
            let problem = format!("{name}: @queue_depth, its cells are the switch's own queue depths");
            return Err(RegisterCode::Error.because(problem));
        }
        let range = (usize::try_from(first), usize::try_from(end));
        let (Ok(first), Ok(end)) = range else {
            return Err(RegisterCode::InvalidIndex.because(format!("{name}: a negative index")));
        };
        if first > end || end > size {
            return Err(RegisterCode::InvalidIndex.because(format!("{name}: no cells {first} to {end}, it has {size}")));
        }
        let bytes = fitted(value, self.pipeline.register_width(register));
        for cell in first..end {
            let written = self.pipeline.register_write(register, cell, &bytes);
            written.map_err(|error| RegisterCode::Error.because(error.to_string()))?;
        }
        Ok(())
    }

    /// Sets all cells of a register to 0.
    pub fn register_reset(&mut self, name: &str) -> Result<(), Refusal> {
        let (_, size) = self.register(name)?;
        self.register_write(name, 0, i32::try_from(size).unwrap_or(i32::MAX), 0)
    }
}

/// The low `width` bits of a signed number, big-endian.
fn fitted(value: i64, width: u32) -> Vec<u8> {
    let sign = if value < 0 { 0xff } else { 0 };
    let count = width.div_ceil(8) as usize;
    let number = value.to_be_bytes();
    let mut bytes = vec![sign; count.saturating_sub(number.len())];
    bytes.extend_from_slice(&number[number.len().saturating_sub(count)..]);
    crate::bytestring::mask_top(&mut bytes, width);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cut_to_the_width_of_a_cell() {
        assert_eq!(fitted(0x1234, 8), [0x34]);
        assert_eq!(fitted(-1, 12), [0x0f, 0xff]);
        assert_eq!(fitted(-2, 72), [255, 255, 255, 255, 255, 255, 255, 255, 254]);
        assert_eq!(fitted(5, 48), [0, 0, 0, 0, 0, 5]);
    }
}
