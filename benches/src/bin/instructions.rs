//! Does one case a number of times, for a tool that counts: `instructions CASE TIMES`. Without a
//! case it prints their names.

use storage_mux_benches::counted::CASES;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [case, times] = &arguments[..] else {
        CASES.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let (_, counted) = CASES.iter().find(|(name, _)| name == case).expect("a case by this name");
    counted(times.parse().expect("a number of times"));
}
