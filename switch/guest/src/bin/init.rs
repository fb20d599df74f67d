//! The first program in a guest. It mounts the file systems that programs need, then starts programs on request.

use p4sched_guest::orders::{Event, FOLDER, Order, START_FOLDER};
use rustix::mount::{MountFlags, mount};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::collections::HashMap;
use std::error::Error;
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

const CONSOLE: &str = "/dev/hvc0";
/// Folder for temporary files. The machine's own folder for them is read-only here.
const TEMPORARY: &str = "/run/tmp";

fn main() -> Result<(), Box<dyn Error>> {
    mount_all()?;
    let console = OpenOptions::new().read(true).write(true).open(CONSOLE)?;
    // The console must pass raw bytes: no echo, no line editing.
    let mut settings = tcgetattr(&console)?;
    settings.make_raw();
    tcsetattr(&console, OptionalActions::Now, &settings)?;
    let init = Init {
        console: Arc::new(Mutex::new(console.try_clone()?)),
        running: Arc::default(),
    };
    init.say(&Event::Ready);
    for line in BufReader::new(console).lines() {
        let order: Order = serde_json::from_str(&line?)?;
        let id = order.id();
        if let Err(error) = init.obey(order) {
            init.say(&Event::Failed {
                id,
                reason: error.to_string(),
            });
        }
    }
    Ok(())
}

fn mount_all() -> Result<(), Box<dyn Error>> {
    let nothing = CString::default();
    mount("proc", "/proc", "proc", MountFlags::empty(), nothing.as_c_str())?;
    mount("sysfs", "/sys", "sysfs", MountFlags::empty(), nothing.as_c_str())?;
    mount("tmpfs", "/run", "tmpfs", MountFlags::empty(), nothing.as_c_str())?;
    fs::create_dir(TEMPORARY)?;
    fs::create_dir(FOLDER)?;
    let folder = CString::new(format!("{START_FOLDER}/folder"))?;
    mount("none", FOLDER, "hostfs", MountFlags::empty(), folder.as_c_str())?;
    Ok(())
}

/// State that all threads share.
#[derive(Clone)]
struct Init {
    console: Arc<Mutex<File>>,
    running: Arc<Mutex<HashMap<u64, Pid>>>,
}

impl Init {
    fn say(&self, event: &Event) {
        let Ok(mut line) = serde_json::to_vec(event) else {
            return;
        };
        line.push(b'\n');
        // If the console fails, the error cannot be reported anywhere.
        let _ = self
            .console
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write_all(&line);
    }

    fn obey(&self, order: Order) -> Result<(), Box<dyn Error>> {
        match order {
            Order::Start { id, words, output } => {
                let child = start(&words, &output)?;
                let pid = Pid::from_child(&child);
                self.running
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(id, pid);
                let init = self.clone();
                thread::spawn(move || init.await_end(id, child));
            }
            Order::Signal { id, signal } => {
                if let Some(pid) = self.running.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
                    let signal =
                        Signal::from_named_raw(signal).ok_or_else(|| format!("there is no signal {signal}"))?;
                    kill_process_group(*pid, signal)?;
                }
            }
            Order::Write { path, text } => fs::write(&path, text).map_err(|error| format!("{path}: {error}"))?,
            Order::Read { id, path } => {
                let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
                self.say(&Event::Text { id, text });
            }
        }
        Ok(())
    }

    fn await_end(&self, id: u64, mut child: Child) {
        let status = child.wait().map_or(-1, number);
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.say(&Event::Ended { id, status });
    }
}

fn start(words: &[String], output: &str) -> Result<Child, Box<dyn Error>> {
    let (program, arguments) = words.split_first().ok_or("a command without words")?;
    let file = |name: String| File::create(format!("{FOLDER}/{name}"));
    Ok(Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("TMPDIR", TEMPORARY)
        .env("LC_ALL", "C.UTF-8")
        .current_dir(FOLDER)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(file(output.to_owned())?)
        .stderr(file(format!("{output}.errors"))?)
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?)
}

/// The exit status as a shell reports it.
fn number(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
