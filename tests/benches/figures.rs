//! The figures that replio is held to, each measured on whole processes and
//! beside what it is compared with: `cargo bench -p replio-tests`.
//!
//! CPU time is what the system accounts to a process and all its children.
//! Runs of what is compared alternate, so that a machine that speeds up or
//! slows down does so for both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use replio::plugins::digest::Digest;
use replio::plugins::load::{PluginToRun, RUNNER_VERB, Request};
use replio::plugins::report::Limits;
use replio_tests::{Plugin, World, replio};

const RUNS: usize = 31;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[1..] {
        ["open-to-report", library] => print_cpu_of(|| open_to_report(Path::new(library))),
        ["bare-dlopen", library] => print_cpu_of(|| bare_dlopen(Path::new(library))),
        _ => figures(),
    }
}

fn figures() {
    let libraries: Vec<PathBuf> = (0..50).map(|number| bench_plugin(number).build()).collect();
    println!("{:<58} {:>10} {:>10} {:>10}", "", "min", "median", "max");
    whole_commands(&libraries[..20]);
    runner(&libraries);
    one_plugin_from_start_to_end(&libraries[0]);
    open_to_report_beside_dlopen(&libraries[0]);
    sizes(&libraries);
}

fn bench_plugin(number: usize) -> Plugin {
    Plugin::with_hooks(
        &format!("bench-{number}"),
        &format!(
            r#"registry.add_plugin(AgentType::new("auditor-{number}").system_prompt("You audit code. ".repeat(100)).skill("checklist-{number}").tag("review").deny("edit"))?;
               registry.add_plugin(AgentType::new("writer").skill("checklist-{number}"))"#
        ),
        &format!(r##"registry.add_plugin(Skill::new("checklist-{number}", "# Checklist\n\n".to_owned() + &"- Check twice.\n".repeat(100)))"##),
        &format!(r#"registry.add_plugin(Team::new("audit-{number}").stage("planner").stage("auditor-{number}"))"#),
    )
    .release()
}

fn whole_commands(libraries: &[PathBuf]) {
    let (without, with, many) = (World::new(), World::new(), World::new());
    for library in libraries {
        let ran = with.run(&["plugins", "install", library.to_str().expect("UTF-8")]);
        assert_eq!(ran.code, 0, "{ran}");
    }
    many.write(&many.local().join("types.json"), ten_thousand_types());
    // Store files are noted as checked once they have been there for a moment.
    std::thread::sleep(Duration::from_secs(3));
    let mut rows = [
        Row::new("true (an empty process)", || Command::new("true")),
        Row::new("type list, no plugins", || without.command(&["type", "list"])),
        Row::new("type list, 20 plugins", || with.command(&["type", "list"])),
        Row::new("plugins list, 20 plugins", || with.command(&["plugins", "list"])),
        Row::new("type list, 10,000 local types", || many.command(&["type", "list"])),
        Row::new("type show writer, 10,000 local types", || many.command(&["type", "show", "writer"])),
    ];
    alternate(&mut rows);
    for row in &rows {
        row.print("CPU ms", |run| run.cpu.as_secs_f64() * 1e3);
    }
    rows[2].print("peak MiB", |run| run.peak_kibibytes as f64 / 1024.0);
}

fn runner(libraries: &[PathBuf]) {
    let requests: Vec<(usize, Vec<u8>)> =
        [0, 1, 10, 20, 50].map(|count| (count, request(&libraries[..count]))).into();
    let mut rows: Vec<Row<'_>> = requests
        .iter()
        .map(|(count, request)| {
            Row::with_input(&format!("runner, {count} plugins"), request, || {
                let mut command = Command::new(replio());
                command.arg(RUNNER_VERB);
                command
            })
        })
        .collect();
    alternate(&mut rows);
    let cpu = |run: &Run| run.cpu.as_secs_f64() * 1e3;
    for row in &rows {
        row.print("CPU ms", cpu);
    }
    let median = |index: usize| rows[index].median(cpu);
    println!(
        "{:<58} {:>10} {:>10.3}",
        "CPU ms a plugin in the runner: (50 - 0) / 50",
        "",
        (median(4) - median(0)) / 50.0
    );
    println!(
        "{:<58} {:>10} {:>10.3}",
        "the same from 20 to 50 plugins: (50 - 20) / 30",
        "",
        (median(4) - median(3)) / 30.0
    );
}

/// What a person waits for: an install, and one plugin in its jail beside a
/// process that does nothing.
fn one_plugin_from_start_to_end(library: &Path) {
    let world = World::new();
    let install = ["plugins", "install", library.to_str().expect("UTF-8")];
    let request = request(std::slice::from_ref(&library.to_owned()));
    let mut rows = [
        Row::new("true (an empty process)", || Command::new("true")),
        Row::with_input("runner, 1 plugin, jailed", &request, || {
            let mut command = Command::new(replio());
            command.arg(RUNNER_VERB);
            command
        }),
        Row::new("plugins install, from a local library", || {
            world.run(&["plugins", "uninstall", "bench-0"]);
            world.command(&install)
        }),
    ];
    alternate(&mut rows);
    let wall = |run: &Run| run.wall.as_secs_f64() * 1e3;
    for row in &rows {
        row.print("wall ms", wall);
    }
    let over = rows[1].median(wall) - rows[0].median(wall);
    println!("{:<58} {:>10} {over:>10.2}", "one plugin, jailed, over an empty process (wall ms)", "");
}

fn open_to_report_beside_dlopen(library: &Path) {
    let other_copy = std::env::temp_dir().join(format!("replio-figures-{}.so", std::process::id()));
    fs::copy(library, &other_copy).expect("a copy");
    let this = std::env::current_exe().expect("this bench is a file");
    let measure = |mode: &str, library: &Path| -> f64 {
        let output = Command::new(&this).arg(mode).arg(library).output().expect("this bench starts");
        String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number of microseconds")
    };
    let (mut report, mut bare, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS * 3 {
        report.push(measure("open-to-report", library));
        bare.push(measure("bare-dlopen", &other_copy));
        ratios.push(report[report.len() - 1] / bare[bare.len() - 1]);
    }
    let _ = fs::remove_file(&other_copy);
    print_figures("open to report, one plugin (CPU us)", report);
    print_figures("bare dlopen of another copy, another process (CPU us)", bare);
    print_figures("ratio, pair by pair", ratios);
}

fn sizes(libraries: &[PathBuf]) {
    let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len()) as f64 / 1024.0;
    println!("{:<58} {:>10} {:>10.0}", "release binary, stripped (KiB)", "", size(replio()));
    println!("{:<58} {:>10} {:>10.0}", "a plugin, release, stripped (KiB)", "", size(&libraries[0]));
}

fn ten_thousand_types() -> String {
    let entries: Vec<String> = (0..10_000)
        .map(|number| {
            format!(
                r#"  "type-{number}": {{ "system_prompt": "You are worker {number}. Do what is asked, and say what you did.", "tags": ["t{}"], "tool_permission": {{ "bash": "ask", "web": "deny" }} }}"#,
                number % 10
            )
        })
        .collect();
    format!("{{\n{}\n}}\n", entries.join(",\n"))
}

fn request(libraries: &[PathBuf]) -> Vec<u8> {
    let plugins = libraries.iter().enumerate().map(|(number, library)| PluginToRun {
        name: format!("bench-{number}").parse().expect("a plugin's name"),
        path: library.clone(),
        file: None,
        sha256: Digest::of(b""),
        libraries: libraries_of(library),
    });
    let request = Request { limits: Limits::RELEASE, plugins: plugins.collect(), probe: false };
    serde_json::to_vec(&request).expect("a request is JSON")
}

fn libraries_of(library: &Path) -> Option<Vec<String>> {
    replio::plugins::inspect::inspect(library).expect("a plugin").library.libraries
}

fn open_to_report(library: &Path) {
    let plugin = PluginToRun {
        name: "bench".parse().expect("a name"),
        path: library.to_owned(),
        file: None,
        sha256: Digest::of(b""),
        // Nothing is kept from being read in this process.
        libraries: None,
    };
    // SAFETY: the library is one that this bench built.
    let report = unsafe { replio::plugins::load::report_in_this_process(&plugin, &Limits::RELEASE) };
    assert!(report.len() > 1000, "the hooks ran");
}

fn bare_dlopen(library: &Path) {
    // SAFETY: the library is one that this bench built.
    let library = unsafe { libloading::Library::new(library) }.expect("the library opens");
    std::mem::forget(library);
}

fn print_cpu_of(act: impl FnOnce()) {
    let now = || {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel writes the time into the place it is given.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
        time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
    };
    let before = now();
    act();
    println!("{}", now() - before);
}

/// A command that is run again and again.
struct Row<'a> {
    name: String,
    input: &'a [u8],
    command: Box<dyn Fn() -> Command + 'a>,
    runs: Vec<Run>,
}

/// What one run took.
struct Run {
    wall: Duration,
    cpu: Duration,
    peak_kibibytes: i64,
}

impl<'a> Row<'a> {
    fn new(name: &str, command: impl Fn() -> Command + 'a) -> Self {
        Self::with_input(name, &[], command)
    }

    fn with_input(name: &str, input: &'a [u8], command: impl Fn() -> Command + 'a) -> Self {
        Self { name: name.into(), input, command: Box::new(command), runs: Vec::new() }
    }

    fn print(&self, unit: &str, figure: impl Fn(&Run) -> f64) {
        print_figures(&format!("{} ({unit})", self.name), self.runs.iter().map(figure).collect());
    }

    fn median(&self, figure: impl Fn(&Run) -> f64) -> f64 {
        let mut figures: Vec<f64> = self.runs.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    }
}

/// Runs each of the commands once to warm up, then all of them in turn.
fn alternate(rows: &mut [Row<'_>]) {
    for row in rows.iter() {
        run(&mut (row.command)(), row.input);
    }
    for _ in 0..RUNS {
        for row in rows.iter_mut() {
            let taken = run(&mut (row.command)(), row.input);
            row.runs.push(taken);
        }
    }
}

#[allow(clippy::zombie_processes, reason = "it is waited for with wait4, which also tells what it took")]
fn run(command: &mut Command, input: &[u8]) -> Run {
    use std::io::Write;
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: the kernel writes both into the places it is given; the child is
    // ours and is waited for here alone.
    let usage = unsafe {
        libc::wait4(child.id().cast_signed(), &raw mut status, 0, usage.as_mut_ptr());
        usage.assume_init()
    };
    let wall = started.elapsed();
    assert_eq!(status, 0, "{command:?}");
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_micros(time.tv_usec.unsigned_abs())
    };
    Run { wall, cpu: time(usage.ru_utime) + time(usage.ru_stime), peak_kibibytes: usage.ru_maxrss }
}

fn print_figures(name: &str, mut figures: Vec<f64>) {
    figures.sort_by(f64::total_cmp);
    let median = figures[figures.len() / 2];
    println!("{name:<58} {:>10.2} {median:>10.2} {:>10.2}", figures[0], figures[figures.len() - 1]);
}
