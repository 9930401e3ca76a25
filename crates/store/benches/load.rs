//! Reads and checks a folder of 1,000 findings. The aim is 50 ms.

use std::{fs, time::Duration};

use criterion::Criterion;
use dmlcts_spec::Library;
use dmlcts_store::Folder;

const FINDINGS: usize = 1_000;

/// A finding as `accept` writes it. Each has other numbers.
fn finding(number: usize) -> String {
    let case = |size: usize| {
        format!(
            "SLICE1 FLOAT32 in=1,{size} out=1,1 InputWindowOffsets=0,0 InputWindowSizes=1,1 InputWindowStrides=1,-1 fill=iota"
        )
    };
    let cases = [3, 4, 5].map(|more| format!("  - {}\n", case(number + more))).concat();
    format!(
        "finding: slice1-wrong-value-{number}\nstatus: known\nkind: bug\n\
         where: operator == SLICE1 and rank >= 2 and any axis (InputWindowStrides < 0 and InputTensor.Sizes >= {})\n\
         class: [wrong-value]\nevidence: {{inside: \"205 of 205\", outside: \"0 of 45\", spec: \"b8e35133e9fe\"}}\n\
         smallest: {}\nanswer: Output[0,0] is Input[0,1], expected Input[0,0]\ncases:\n{cases}\
         seen: {{first: \"1.0\", last: \"1.2\", with: \"driver x\"}}\nreason: Walks a window from the wrong end.\n",
        number + 2,
        case(number + 2),
    )
}

fn main() {
    let path = std::env::temp_dir().join(format!("dmlcts-bench-{}", std::process::id()));
    fs::create_dir_all(&path).expect("the temporary folder takes a folder");
    for number in 0..FINDINGS {
        let file = path.join(format!("slice1-wrong-value-{number}.yaml"));
        fs::write(file, finding(number)).expect("it can be written");
    }
    let (folder, library) = (Folder::new(&path), Library::embedded());
    let mut criterion =
        Criterion::default().sample_size(10).measurement_time(Duration::from_secs(2)).configure_from_args();
    criterion.bench_function("load 1,000 findings", |bencher| {
        bencher.iter(|| {
            let all = folder.read(library).expect("the findings are right");
            assert_eq!(all.len(), FINDINGS);
            all
        });
    });
    criterion.final_summary();
    fs::remove_dir_all(&path).expect("it is this program's own");
}
