// Rust: panics that are caught, panics of threads, destructors, backtraces with names.
use std::backtrace::Backtrace;
use std::panic;
use std::sync::atomic::{AtomicU64, Ordering};

static DROPPED: AtomicU64 = AtomicU64::new(0);

struct Guard(u64);

impl Drop for Guard {
    fn drop(&mut self) {
        DROPPED.fetch_add(self.0, Ordering::Relaxed);
    }
}

#[inline(never)]
fn deep(depth: u32, what: u32) -> u32 {
    let _guard = Guard(1);
    if depth == 0 {
        match what % 4 {
            0 => panic!("boom"),
            1 => return [1u32, 2, 3][std::hint::black_box(7)],
            2 => return None::<u32>.expect("nothing there"),
            _ => return 1,
        }
    }
    deep(depth - 1, what) + 1
}

fn catch() {
    panic::set_hook(Box::new(|_| {}));
    let mut caught = 0;
    for i in 0..2000 {
        if panic::catch_unwind(|| deep(i % 40, i)).is_err() {
            caught += 1;
        }
    }
    println!("caught {} dropped {}", caught, DROPPED.load(Ordering::Relaxed));
}

fn threads() {
    panic::set_hook(Box::new(|_| {}));
    let mut failed = 0;
    for i in 0..40 {
        let thread = std::thread::spawn(move || {
            let _guard = Guard(100);
            deep(10, i)
        });
        failed += thread.join().is_err() as u32;
    }
    println!("failed {} dropped {}", failed, DROPPED.load(Ordering::Relaxed));
}

// The names of the functions between here and main; addresses and paths differ between machines.
#[inline(never)]
fn names(depth: u32) {
    if depth > 0 {
        names(std::hint::black_box(depth) - 1);
    } else {
        let text = Backtrace::force_capture().to_string();
        for line in text.lines().filter(|line| line.contains(": panic::")) {
            println!("{}", line.trim_start_matches(|c: char| !c.is_alphabetic()));
        }
    }
    std::hint::black_box(depth);
}

// A hook that writes message, place and the frames of the program with their lines.
fn message() {
    panic::set_hook(Box::new(|info| {
        println!("{}", info.location().map_or(0, |place| place.line()));
        for line in Backtrace::force_capture().to_string().lines() {
            if let Some(at) = line.find("panic.rs:") {
                println!("{}", &line[at..]);
            }
        }
    }));
    let thread = std::thread::spawn(|| deep(3, 0));
    println!("failed {}", thread.join().is_err());
}

fn sort() {
    let mut numbers: Vec<u64> = (0..20000).map(|i| i * 7919 % 20011).collect();
    numbers.sort_by(|a, b| b.cmp(a));
    let text: String = numbers.iter().take(5).map(|n| format!("{} ", n)).collect();
    println!("{}{}", text, numbers.iter().sum::<u64>());
}

fn main() {
    let cases: [(&str, fn()); 5] = [
        ("catch", catch),
        ("threads", threads),
        ("names", || names(3)),
        ("message", message),
        ("sort", sort),
    ];
    let wanted = std::env::args().nth(1);
    for (name, run) in cases {
        match &wanted {
            None => println!("{}", name),
            Some(word) if word == name => run(),
            _ => {}
        }
    }
}
