//! pcap files of a port's frames, one for each direction, named as in BMv2: `IFACE_in.pcap`, `IFACE_out.pcap`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::log;

/// The magic number of files with timestamps in ns, in the byte order of the machine.
const MAGIC: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
const LONGEST_FRAME: u32 = 65_535;
const ETHERNET: u32 = 1;

/// The direction of frames, seen from the switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
}

/// A file with the frames of one port and direction. If a write fails, for example because the disk is full, the file
/// ends and the packets continue.
#[derive(Debug)]
pub struct Capture {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

impl Capture {
    /// Creates a file in this folder. An existing file is overwritten.
    ///
    /// # Errors
    /// One line with the file and the reason.
    pub fn create(folder: &Path, interface: &str, direction: Direction) -> Result<Capture, String> {
        let way = match direction {
            Direction::In => "in",
            Direction::Out => "out",
        };
        let path = folder.join(format!("{interface}_{way}.pcap"));
        let begun = File::create(&path).and_then(|file| {
            let mut file = BufWriter::new(file);
            write_header(&mut file)?;
            file.flush()?;
            Ok(file)
        });
        match begun {
            Ok(file) => Ok(Capture { path, file: Some(file) }),
            Err(error) => Err(format!("--pcap: {}: {error}", path.display())),
        }
    }

    /// Writes a frame; `wall_ns` is its time in ns since 1970.
    pub fn frame(&mut self, wall_ns: u64, frame: &[u8]) {
        self.write(|file| write_frame(file, wall_ns, frame));
    }

    pub fn flush(&mut self) {
        self.write(BufWriter::flush);
    }

    fn write(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if let Some(file) = &mut self.file
            && let Err(error) = write(file)
        {
            log::warn(&format!("{}: {error}; the capture ends here", self.path.display()));
            // The buffered frames would fail again.
            self.file.take().map(BufWriter::into_parts);
        }
    }
}

fn write_header(file: &mut impl Write) -> io::Result<()> {
    file.write_all(&MAGIC.to_ne_bytes())?;
    for number in VERSION {
        file.write_all(&number.to_ne_bytes())?;
    }
    // Time zone and accuracy are always 0.
    for number in [0, 0, LONGEST_FRAME, ETHERNET] {
        file.write_all(&number.to_ne_bytes())?;
    }
    Ok(())
}

fn write_frame(file: &mut impl Write, wall_ns: u64, frame: &[u8]) -> io::Result<()> {
    let (seconds, nanos) = (wall_ns / 1_000_000_000, wall_ns % 1_000_000_000);
    for number in [seconds as u32, nanos as u32, frame.len() as u32, frame.len() as u32] {
        file.write_all(&number.to_ne_bytes())?;
    }
    file.write_all(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_ends_the_file_and_nothing_else() {
        let file = File::options().write(true).open("/dev/full").expect("Linux has it");
        let path = PathBuf::from("s1-eth1_in.pcap");
        let mut capture = Capture {
            path,
            file: Some(BufWriter::new(file)),
        };
        capture.frame(1, &[0; 60]);
        assert!(capture.file.is_some(), "it waits in the buffer");
        capture.flush();
        assert!(capture.file.is_none());
        capture.frame(2, &[0; 60]);
    }
}
