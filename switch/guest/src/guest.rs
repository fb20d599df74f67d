//! A guest: its process, its calendar and its two devices.

use crate::GuestError;
use crate::device::{Device, Kind};
use crate::orders::{Event, Order, START_FOLDER};
use crate::temporary::temporary_folder;
use crate::timetravel::{self, Message, Operation};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The guest's time, in ns, at the world's time zero. The guest is booted and set up before.
pub const BOOT_NS: u64 = 10_000_000_000;
/// Time of day at the guest's time 0: 1 January 2020, in ns since 1970.
const TIME_OF_DAY_NS: u64 = 1_577_836_800_000_000_000;
/// Environment variable with the seed of the kernel's random numbers (kernel/random.c).
const SEED_VARIABLE: &str = "P4SCHED_GUEST_SEED";
/// File with the messages of the guest's kernel, in the guest's folder.
const KERNEL_LOG: &str = "kernel.log";
/// Interval between checks that a silent guest is still alive.
const ALIVE: Duration = Duration::from_millis(200);
/// Time that a program takes to read the clock, in ns (arch/um/kernel/time.c).
const CLOCK_NS: u64 = 256;
/// A program that reads the clock this many times in a row waits for time to pass, as iperf3 does at the end of a test.
const SPINNING_TICKS: u32 = 16;
/// Time by which such a program may advance without a request, in ns.
const SPINNING_NS: u64 = 20_000;
/// Time by which other programs may advance without a request, in ns. Programs read the clock a few times before they
/// wait.
const FREE_NS: u64 = 8 * CLOCK_NS;
/// Time by which a guest's clock may run ahead to answer a question, in ns. A program takes 256 ns to read the clock.
const AHEAD_NS: u64 = 1_000_000;
/// Numbers of the devices on the kernel's command line.
const INTERFACE: u32 = 0;
const CONSOLE: u32 = 1;
/// The time that a guest requests if it waits for no time.
const NEVER: u64 = i64::MAX as u64;

#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the guest and of its machine.
    pub name: String,
    /// Path of the guests' kernel: [`crate::kernel()`].
    pub kernel: PathBuf,
    /// Path of the guests' first program: [`crate::init()`].
    pub init: PathBuf,
    /// Folder of this machine for the files that the guest writes.
    pub folder: PathBuf,
    /// MAC address of its interface.
    pub mac: [u8; 6],
    /// Seed of its random numbers.
    pub seed: u64,
    /// Memory in MiB. Unused memory costs nothing.
    pub memory_mib: u32,
    /// Limit of its running time before it waits, by the wall clock.
    pub patience: Duration,
}

#[derive(Debug)]
pub struct Guest {
    name: String,
    folder: PathBuf,
    patience: Duration,
    process: Child,
    listener: UnixListener,
    calendar: Option<UnixStream>,
    interface: Device,
    console: Device,
    /// Frames that the guest has sent and that were not taken yet.
    frames: Vec<Vec<u8>>,
    /// Bytes from the console that are not a whole line yet.
    line: Vec<u8>,
    events: Vec<Event>,
    now: u64,
    /// Time at which the guest wants to run.
    requested: u64,
    waiting: bool,
    /// Number of steps in a row in which its time advanced by at most one reading of the clock.
    ticks: u32,
    /// Folder of the guest's sockets. It is removed at the end.
    _sockets: TempDir,
}

#[derive(Clone, Copy, Debug)]
enum Which {
    Interface,
    Console,
}

#[derive(Clone, Copy)]
enum Source {
    Calendar,
    /// A driver has a request for its device.
    Request(Which),
}

impl Guest {
    /// Starts a guest and lets it run until it can take orders.
    ///
    /// # Errors
    /// [`GuestError`] if it does not start.
    pub fn boot(options: &Options) -> Result<Self, GuestError> {
        let sockets = temporary_folder("guest")?;
        let at = |name: &str| sockets.path().join(name);
        // The kernel starts in this folder and finds everything else through links in it.
        std::os::unix::fs::symlink(fs::canonicalize(&options.init)?, at("init"))?;
        fs::create_dir_all(&options.folder)?;
        std::os::unix::fs::symlink(fs::canonicalize(&options.folder)?, at("folder"))?;
        // The path of a socket has at most 107 bytes (unix(7)), but the folder for temporary files may have a longer
        // path.
        let open = File::open(sockets.path())?;
        let short = |name: &str| PathBuf::from(format!("/proc/self/fd/{}/{name}", open.as_raw_fd()));
        let listener = UnixListener::bind(short("calendar"))?;
        let interface = Device::listen(&short("interface"), Kind::network(options.mac))?;
        let console = Device::listen(&short("console"), Kind::console())?;
        let process = start(options, sockets.path())?;
        let mut guest = Self {
            name: options.name.clone(),
            folder: options.folder.clone(),
            patience: options.patience,
            process,
            listener,
            calendar: None,
            interface,
            console,
            frames: Vec::new(),
            line: Vec::new(),
            events: Vec::new(),
            now: 0,
            requested: NEVER,
            waiting: false,
            ticks: 0,
            _sockets: sockets,
        };
        guest.serve()?;
        while guest.events.is_empty() {
            guest.step()?;
        }
        guest.events.clear();
        Ok(guest)
    }

    /// Lets a guest that is set up sleep until [`BOOT_NS`].
    ///
    /// # Errors
    /// [`GuestError`] if it stops before.
    pub fn settle(&mut self) -> Result<(), GuestError> {
        while self.next() < BOOT_NS {
            self.step()?;
        }
        if self.now > BOOT_NS {
            return Err(self.refused(format!("it took {} s of its time to start", self.now / 1_000_000_000)));
        }
        self.now = BOOT_NS;
        // The wire is empty at the world's time zero.
        self.frames.clear();
        Ok(())
    }

    /// Runs a program and returns its output. It must be called before [`Guest::settle`], while the guest has its own
    /// time.
    ///
    /// # Errors
    /// [`GuestError::Refused`], with the program's error messages, if it fails.
    pub fn run(&mut self, words: &[&str]) -> Result<String, GuestError> {
        let output = "setup";
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let line = words.join(" ");
        self.order(
            self.now,
            &Order::Start {
                id: 0,
                words,
                output: output.to_owned(),
            },
        )?;
        loop {
            if let Some(event) = self.events.pop() {
                return match event {
                    Event::Ended { id: 0, status: 0 } => Ok(fs::read_to_string(self.folder.join(output))?),
                    Event::Ended { .. } => {
                        let errors = fs::read_to_string(self.folder.join(format!("{output}.errors")))?;
                        Err(self.refused(format!("`{line}` failed: {}", errors.trim())))
                    }
                    Event::Failed { reason, .. } => Err(self.refused(reason)),
                    Event::Ready | Event::Text { .. } => continue,
                };
            }
            if self.next() > BOOT_NS {
                return Err(self.refused(format!("`{line}` does not end")));
            }
            self.step()?;
        }
    }

    /// Writes a text into a file of the guest. It must be called before [`Guest::settle`].
    ///
    /// # Errors
    /// [`GuestError`] if the guest is gone. If the file cannot be written, the next command reports it.
    pub fn write(&mut self, path: &str, text: &str) -> Result<(), GuestError> {
        self.order(
            self.now,
            &Order::Write {
                path: path.to_owned(),
                text: text.to_owned(),
            },
        )
    }

    /// Reads a file of the guest while the world's time stands still. No other command may have the number `id`.
    ///
    /// # Errors
    /// [`GuestError::Refused`] if it cannot be read.
    pub fn read(&mut self, now: u64, id: u64, path: &str) -> Result<String, GuestError> {
        let order = Order::Read {
            id,
            path: path.to_owned(),
        };
        let about = |event: &Event| matches!(event, Event::Text { id: said, .. } | Event::Failed { id: Some(said), .. } if *said == id);
        self.ask(now, &order, about)?;
        match self
            .events
            .iter()
            .position(about)
            .map(|place| self.events.remove(place))
        {
            Some(Event::Text { text, .. }) => Ok(text),
            Some(Event::Failed { reason, .. }) => Err(self.refused(reason)),
            _ => Err(self.refused(format!("{path} cannot be read"))),
        }
    }

    /// Gives the guest an order and lets it run ahead, by at most a millisecond, until an event is `wanted`. Returns
    /// whether there was such an event. Afterwards the guest's clock is ahead of the world's by the time that this
    /// took.
    ///
    /// # Errors
    /// [`GuestError`] if the guest is gone.
    pub fn ask(&mut self, now: u64, order: &Order, wanted: impl Fn(&Event) -> bool) -> Result<bool, GuestError> {
        self.order(now, order)?;
        loop {
            if self.events.iter().any(&wanted) {
                return Ok(true);
            }
            if self.next() > now + AHEAD_NS {
                return Ok(false);
            }
            self.step()?;
        }
    }

    /// Time at which the guest wants to run, in ns of its own time. `None`: it waits for input only.
    pub fn next_event(&self) -> Option<u64> {
        Some(self.next()).filter(|time| *time < NEVER)
    }

    fn next(&self) -> u64 {
        let called = self.interface.call_due() || self.console.call_due();
        if called { self.now } else { self.requested }
    }

    /// Takes a frame for the guest. The guest wants to run at once, and sees the frame then.
    ///
    /// # Errors
    /// [`GuestError`] if the guest is gone.
    pub fn receive(&mut self, now: u64, frame: &[u8]) -> Result<(), GuestError> {
        self.now = self.now.max(now);
        self.interface.send(frame.to_vec())
    }

    /// Gives the guest an order. The guest wants to run at once, and sees the order then.
    ///
    /// # Errors
    /// [`GuestError`] if the guest is gone.
    pub fn order(&mut self, now: u64, order: &Order) -> Result<(), GuestError> {
        self.now = self.now.max(now);
        let mut line = serde_json::to_vec(order).map_err(std::io::Error::from)?;
        line.push(b'\n');
        // A buffer of the console's driver is one page.
        for part in line.chunks(4096) {
            self.console.send(part.to_vec())?;
        }
        Ok(())
    }

    /// Lets the guest run if it wants to run by `now`. Frames that it sends leave at this time.
    ///
    /// # Errors
    /// [`GuestError`] if the guest ends or hangs.
    pub fn advance(&mut self, now: u64) -> Result<(), GuestError> {
        if self.next() <= now {
            self.step()?;
        }
        Ok(())
    }

    /// Whether the guest has sent frames that were not taken yet.
    pub fn has_frames(&self) -> bool {
        !self.frames.is_empty()
    }

    /// Takes the frames that the guest has sent.
    pub fn take_frames(&mut self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.frames.drain(..)
    }

    pub fn take_events(&mut self) -> impl Iterator<Item = Event> + '_ {
        self.events.drain(..)
    }

    /// Lets the guest run at the time of its next event, until it waits again.
    fn step(&mut self) -> Result<(), GuestError> {
        let now = self.next().max(self.now);
        if now >= NEVER {
            return Err(self.refused("it waits for something that never comes".into()));
        }
        self.now = now;
        let free = if self.ticks > SPINNING_TICKS {
            SPINNING_NS
        } else {
            FREE_NS
        };
        let queues = self.interface.take_calls() << (2 * INTERFACE) | self.console.take_calls() << (2 * CONSOLE);
        self.requested = NEVER;
        self.waiting = false;
        self.say(Message::run(now, free, queues))?;
        self.serve()?;
        self.interface.drain(&mut self.frames)?;
        self.ticks = if self.requested <= now + CLOCK_NS.max(free) {
            self.ticks + 1
        } else {
            0
        };
        Ok(())
    }

    /// Answers the guest until it waits.
    fn serve(&mut self) -> Result<(), GuestError> {
        self.handle_until(|guest| guest.waiting)
    }

    /// Handles the guest's messages until `done`.
    fn handle_until(&mut self, done: impl Fn(&Self) -> bool) -> Result<(), GuestError> {
        let begun = Instant::now();
        while !done(self) {
            if let Some(source) = self.poll()? {
                self.handle(source)?;
            } else if self.process.try_wait()?.is_some() {
                return Err(self.ended());
            } else if begun.elapsed() > self.patience {
                return Err(GuestError::Hangs {
                    name: self.name.clone(),
                    patience: self.patience,
                });
            }
        }
        Ok(())
    }

    /// Waits up to [`ALIVE`] for the source of the next message. Devices come first, because a guest sends before it
    /// waits.
    fn poll(&self) -> Result<Option<Source>, GuestError> {
        let calendar: BorrowedFd<'_> = self
            .calendar
            .as_ref()
            .map_or_else(|| self.listener.as_fd(), AsFd::as_fd);
        let devices = [(Which::Interface, &self.interface), (Which::Console, &self.console)];
        let requests = devices
            .iter()
            .map(|(which, device)| (Source::Request(*which), device.descriptor()));
        let sources: Vec<_> = requests.chain([(Source::Calendar, calendar)]).collect();
        let mut polled: Vec<PollFd<'_>> = sources
            .iter()
            .map(|(_, descriptor)| PollFd::from_borrowed_fd(*descriptor, PollFlags::IN))
            .collect();
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(ALIVE.subsec_nanos()),
        };
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(None),
            Err(error) => return Err(std::io::Error::from(error).into()),
        }
        let ready = polled.iter().position(|descriptor| !descriptor.revents().is_empty());
        Ok(ready.map(|place| sources[place].0))
    }

    fn handle(&mut self, source: Source) -> Result<(), GuestError> {
        let done = match source {
            Source::Calendar => self.answer_calendar(),
            Source::Request(Which::Interface) => self.interface.handle(&mut self.frames),
            Source::Request(Which::Console) => self.read_console(),
        };
        self.alive(done)
    }

    fn read_console(&mut self) -> Result<(), GuestError> {
        let mut parts = Vec::new();
        self.console.handle(&mut parts)?;
        for byte in parts.concat() {
            if byte != b'\n' {
                self.line.push(byte);
                continue;
            }
            let event = serde_json::from_slice(&self.line)
                .map_err(|error| GuestError::Protocol(format!("the guest's init sent a bad message: {error}")))?;
            self.events.push(event);
            self.line.clear();
        }
        Ok(())
    }

    /// Handles one message to the calendar.
    fn answer_calendar(&mut self) -> Result<(), GuestError> {
        let Some(calendar) = &mut self.calendar else {
            self.calendar = Some(self.listener.accept()?.0);
            return Ok(());
        };
        let mut bytes = [0; timetravel::BYTES];
        calendar.read_exact(&mut bytes)?;
        let message = Message::decode(bytes)?;
        match message.operation {
            Operation::Wait => {
                self.now += u64::from(message.number);
                self.requested = message.time;
                self.waiting = true;
                Ok(())
            }
            // A message to a device follows.
            Operation::Update => Ok(()),
            Operation::Start => self.say(message.ack(0)),
            Operation::Get => self.say(message.ack(self.now)),
            Operation::GetTimeOfDay => self.say(message.ack(TIME_OF_DAY_NS + self.now)),
            Operation::Request => Err(GuestError::Missing(
                "the guests' kernel is older than this program: run `make virtual`".into(),
            )),
            Operation::Ack | Operation::Run | Operation::FreeUntil => Err(GuestError::Protocol(
                "the guest sent a message of a time-travel server".into(),
            )),
        }
    }

    fn say(&mut self, message: Message) -> Result<(), GuestError> {
        let said = self
            .calendar
            .as_mut()
            .map_or(Ok(()), |calendar| calendar.write_all(&message.encode()));
        self.alive(said.map_err(Into::into))
    }

    /// Replaces an error of a socket by the error that the guest has ended, if it has.
    fn alive(&mut self, result: Result<(), GuestError>) -> Result<(), GuestError> {
        match result {
            Err(GuestError::Io(error))
                if matches!(
                    error.kind(),
                    ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
                ) =>
            {
                Err(self.ended())
            }
            other => other,
        }
    }

    fn refused(&self, reason: String) -> GuestError {
        GuestError::Refused {
            name: self.name.clone(),
            reason,
        }
    }

    /// The error that the guest has ended, with the reason from its kernel's messages.
    fn ended(&mut self) -> GuestError {
        let log = self.folder.join(KERNEL_LOG);
        let text = fs::read(&log)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default();
        let panic = text.lines().find(|line| line.contains("Kernel panic"));
        let last = text.lines().rfind(|line| !line.trim().is_empty());
        let status = self.process.try_wait().ok().flatten();
        let killed = status
            .and_then(|status| status.signal())
            .map(|signal| format!("signal {signal} killed it"));
        let line = panic.or(killed.as_deref()).or(last).unwrap_or("it said nothing").trim();
        GuestError::Ended {
            name: self.name.clone(),
            reason: format!("{line} (its output: {})", log.display()),
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // User-mode Linux leads its own process group. The processes of the guest's programs belong to it.
        if let Some(group) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start(options: &Options, sockets: &Path) -> Result<Child, GuestError> {
    let log = File::create(options.folder.join(KERNEL_LOG))?;
    // The kernel uses the memory below its heap as memory of the machine. Without random addresses, its size is always
    // the same.
    Ok(Command::new("setarch")
        .arg("--addr-no-randomize")
        .arg(&options.kernel)
        // The kernel's random numbers depend on this line too, so it only names the folder in which the kernel is
        // started.
        .arg(format!("mem={}M", options.memory_mib))
        .args(["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"])
        .arg(format!("init={START_FOLDER}/init"))
        .args([
            "time-travel=ext:calendar",
            "virtio_uml.device=interface:1:0",
            "virtio_uml.device=console:3:1",
        ])
        // The seed fills the random generator, so the kernel does not wait for random events.
        .args(["random.trust_cpu=on", "random.trust_bootloader=on"])
        // A frame is sent when it is handed to the interface, as on a pair of virtual interfaces. There is no callback.
        .arg("virtio_net.napi_tx=0")
        .args(["con=null", "con0=null,fd:2"])
        .args(["uml_dir=./".to_owned(), format!("umid={}", options.name)])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        // The C library registers memory for restartable sequences, which User-mode Linux would then remove.
        .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
        .env(SEED_VARIABLE, options.seed.to_string())
        .current_dir(sockets)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()?)
}
