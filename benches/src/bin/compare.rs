//! Measures everything and prints the table in Markdown. `--plot FILE` also draws the picture of a
//! hung primary, `--quick` takes a tenth of the rounds, and words name the only parts to measure.

use std::path::Path;

use storage_mux_benches::harness::{Counting, Row};
use storage_mux_benches::{chart, fan_out, flat, get, hang, small, threads};

#[global_allocator]
static COUNTING: Counting = Counting;

fn main() -> std::io::Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().position(|each| each == "--quick");
    let rounds = if quick.map(|at| arguments.remove(at)).is_some() { 101 } else { 1_001 };
    let plot = arguments.iter().position(|each| each == "--plot").map(|at| {
        let file = arguments.drain(at..).nth(1);
        file.expect("--plot FILE")
    });
    let wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|each| each == part);

    let parts: [(&str, &dyn Fn() -> Vec<Row>); 5] = [
        ("get", &|| get::rows(rounds)),
        ("small", &|| small::rows(rounds)),
        ("fan_out", &|| fan_out::rows(rounds)),
        ("flat", &|| flat::rows(rounds)),
        ("threads", &|| threads::rows(rounds / 2)),
    ];
    println!("| ours | time | beside | time | ratio | target | |");
    println!("|---|---|---|---|---|---|---|");
    for (_, rows) in parts.into_iter().filter(|(part, _)| wanted(part)) {
        rows().iter().for_each(|row| println!("{}", row.markdown()));
    }
    if wanted("hang") {
        let seen = hang::watch();
        println!("{}", hang::row(&seen).markdown());
        if let Some(file) = plot {
            chart::draw(&seen, Path::new(&file))?;
        }
    }
    Ok(())
}
