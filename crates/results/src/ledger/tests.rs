use std::fs;

use dmlcts_spec::Source;
use dmlcts_tests::Scratch;

use super::{
    Against, Ledger, LedgerAnswer, LedgerChange, LedgerEntry, LedgerError, LedgerForm, LedgerQuestion,
};

/// Questions with their answers, such as `id reject 3 semantics 2`. The number after `together` is
/// [`LedgerQuestion::together`].
fn questions(all: &[&str]) -> Vec<LedgerQuestion> {
    let question = |text: &&str| {
        let words: Vec<&str> = text.split(' ').collect();
        let mut question = LedgerQuestion { question: words[0].to_owned(), ..LedgerQuestion::default() };
        for pair in words[1..].chunks(2) {
            let cases = pair[1].parse().expect("a number");
            if pair[0] == "together" {
                question.together = cases;
            } else {
                let (answer, example) = (pair[0].to_owned(), format!("CASE of={}", pair[0]));
                question.answers.push(LedgerAnswer { answer, cases, example });
            }
        }
        question
    };
    all.iter().map(question).collect()
}

fn entry(driver: &str, options: &str, all: &[&str]) -> LedgerEntry {
    LedgerEntry {
        name: "mine".to_owned(),
        version: "1.0".to_owned(),
        device: "a card".to_owned(),
        driver: driver.to_owned(),
        level: "6.4".to_owned(),
        suite: "smoke".to_owned(),
        options: options.to_owned(),
        spec: "12".repeat(32),
        questions: questions(all),
    }
}

/// Changes in short: each question with its old and new answers.
fn short(changes: &[LedgerChange]) -> Vec<String> {
    let answers = |question: &LedgerQuestion| -> String {
        let all = question.answers.iter().map(|answer| format!("{} {}", answer.answer, answer.cases));
        all.collect::<Vec<_>>().join(" ")
    };
    let change = |change: &LedgerChange| match change {
        LedgerChange::Changed { old, new } => {
            format!("{}: {} -> {}", new.question, answers(old), answers(new))
        }
        LedgerChange::Also { old, new } => format!("{}: {} + {}", new.question, answers(old), answers(new)),
        LedgerChange::New(new) => format!("{}: new {}", new.question, answers(new)),
        LedgerChange::Gone(old) => format!("{}: gone {}", old.question, answers(old)),
    };
    changes.iter().map(change).collect()
}

fn ledger(entries: &[LedgerEntry]) -> LedgerForm {
    let mut form = LedgerForm::default();
    for entry in entries {
        let news = form.record("ledger", entry.clone(), true);
        assert_eq!((news.against, news.changes), (Against::Nothing, Vec::new()));
    }
    form
}

#[test]
fn a_whole_run_takes_the_place_of_the_last_one_and_says_what_changed() {
    let before = [
        "a reject 63",
        "b reject 2",
        "c reject 3 semantics 1",
        "d reject 5",
        "e together 2",
        "g reject 9 together 4",
    ];
    let mut form = ledger(&[entry("1", "", &before)]);
    assert_eq!(short(&form.record("ledger", entry("1", "", &before), true).changes), [""; 0]);
    // `c` has the same number of cases, but one changed its answer. `d` has more cases with the same answer.
    // `g` has fewer cases that were refused together with another question.
    let now = [
        "a semantics 63",
        "c reject 2 semantics 2",
        "d reject 9",
        "e reject 1 together 1",
        "f accept 1",
        "g reject 11 together 2",
    ];
    let news = form.record("ledger", entry("1", "", &now), true);
    assert_eq!(
        short(&news.changes),
        [
            "a: reject 63 -> semantics 63",
            "b: gone reject 2",
            "c: reject 3 semantics 1 -> reject 2 semantics 2",
            "e: new reject 1",
            "f: new accept 1"
        ]
    );
    assert_eq!((news.against, news.answered, news.kept, news.other_spec), (Against::Last, 6, None, None));
    assert_eq!(form.backends, [entry("1", "", &now)]);
}

#[test]
fn a_run_that_did_not_come_to_its_end_says_only_what_is_news_and_adds_it() {
    let mut form = ledger(&[entry("1", "", &["a reject 63", "b reject 2"])]);
    let news = form.record("ledger", entry("1", "", &["a reject 1 semantics 2", "c accept 4"]), false);
    assert_eq!(short(&news.changes), ["a: reject 63 + semantics 2", "c: new accept 4"]);
    let all = ["a reject 63 semantics 2", "b reject 2", "c accept 4"];
    assert_eq!(form.backends, [entry("1", "", &all)]);
}

#[test]
fn other_cases_of_the_suite_are_told_of_and_not_entered() {
    let form = || ledger(&[entry("1", "", &["a reject 63", "b reject 2"])]);
    let mut seeded = form();
    let news = seeded.record("ledger", entry("1", "--seed 7", &["a semantics 2", "c accept 4"]), true);
    assert_eq!(short(&news.changes), ["a: reject 63 + semantics 2", "c: new accept 4"]);
    assert_eq!((news.kept.as_deref(), &seeded), (Some(""), &form()));
    // The whole suite replaces any entry.
    let mut form = ledger(&[entry("1", "--seed 7", &["a reject 63", "b reject 2"])]);
    let news = form.record("ledger", entry("1", "", &["a reject 2"]), true);
    assert_eq!((short(&news.changes), news.kept), (vec![], None));
    assert_eq!(form.backends, [entry("1", "", &["a reject 2"])]);
}

#[test]
fn another_driver_has_an_entry_of_its_own_and_is_compared_with_the_last_one() {
    let other = LedgerEntry { name: "other".to_owned(), ..entry("0", "", &["a accept 1"]) };
    let mut form = ledger(&[other, entry("1", "", &["a reject 63", "b reject 2"])]);
    let news = form.record(
        "ledger",
        LedgerEntry { spec: "34".repeat(32), ..entry("2", "", &["a semantics 63"]) },
        true,
    );
    assert_eq!(news.against, Against::Driver("1".to_owned()));
    assert_eq!(short(&news.changes), ["a: reject 63 -> semantics 63", "b: gone reject 2"]);
    assert_eq!(news.other_spec, Some("12".repeat(32)));
    let keys: Vec<(&str, &str)> =
        form.backends.iter().map(|entry| (entry.name.as_str(), entry.driver.as_str())).collect();
    assert_eq!(keys, [("mine", "1"), ("mine", "2"), ("other", "0")]);
    // Another device has no entry.
    let elsewhere = LedgerEntry { device: "another".to_owned(), ..entry("2", "", &["a reject 63"]) };
    assert_eq!(form.record("ledger", elsewhere, true).against, Against::Nothing);
}

#[test]
fn a_written_ledger_reads_back_with_its_comments() {
    let file = Scratch::new("write.yaml", "# Mine: of all machines.\n\nbackends: []\n");
    let odd = LedgerEntry {
        name: "it's: \"odd\" # 1".to_owned(),
        driver: "25.1\nbeta".to_owned(),
        options: "--where 'rank == 1'".to_owned(),
        questions: Vec::new(),
        ..entry("", "", &[])
    };
    for entry in [entry("1", "", &["a reject 63 together 1", "b together 2"]), odd.clone()] {
        Ledger::record(file.path(), entry, true).expect("it can be written");
    }
    insta::assert_snapshot!("written", file.text());
    let read = Ledger::read(file.path()).expect("it is a ledger");
    assert_eq!(read.form().backends[0], odd);
    let before = fs::metadata(file.path()).expect("it is there").modified().expect("it has a time");
    Ledger::record(file.path(), odd, true).expect("it can be written");
    let after = fs::metadata(file.path()).expect("it is there").modified().expect("it has a time");
    assert_eq!(before, after, "what says the same is not written again");
    let beside = fs::read_dir(std::env::temp_dir()).expect("there is a folder").flatten();
    let own = file.as_ref().file_name().expect("it has a name").to_string_lossy().into_owned();
    let left = beside.filter(|other| other.file_name().to_string_lossy().contains(&format!(".{own}.")));
    assert_eq!(left.count(), 0, "and nothing is left beside it");
}

#[test]
fn a_file_that_is_no_ledger_stays() {
    let twice = "- {name: a, version: '1', level: '6.4', suite: smoke, spec: ab, questions: ";
    let wrong = format!(
        "backends:\n  {twice}[]}}\n  {twice}[{{question: q, answers: [{{answer: refuse, cases: 1, example: x}}]}}, {{question: q}}]}}\n"
    );
    let mut shown = String::new();
    for (name, text) in [
        ("foreign.yaml", "backend: mine\nfailures: []\n"),
        ("broken.yaml", "backends:\n  - name: [\n"),
        ("wrong.yaml", &wrong),
    ] {
        let file = Scratch::new(name, text);
        let error = Ledger::prepare(file.path()).expect_err("it is no ledger");
        assert!(matches!(&error, LedgerError::Load(_)) && !error.is_machine());
        shown += &format!("{error}\n\n").replace(file.path(), name);
        let late = Ledger::record(file.path(), entry("1", "", &["a reject 1"]), true);
        assert!(late.expect_err("nor later").is_machine());
        assert_eq!(file.text(), text);
    }
    insta::assert_snapshot!("no_ledger", shown);
    assert!(super::file::parse(&Source::new("ledger", "backends: []\n")).is_ok());
    // An empty file is an empty ledger.
    assert!(Ledger::prepare(Scratch::new("empty.yaml", "").path()).is_ok());
    let folder = std::env::temp_dir();
    assert!(matches!(Ledger::prepare(folder.to_str().expect("text")), Err(LedgerError::NoFile { .. })));
    assert!(matches!(Ledger::prepare("/no/such/folder/ledger.yaml"), Err(LedgerError::Folder { .. })));
}

/// A write to a ledger behind a link goes to the link's target, and keeps its permissions.
#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let file = Scratch::new("target.yaml", "");
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o640)).expect("it is ours");
    let link = Scratch::new("link.yaml", "");
    fs::remove_file(link.path()).expect("it was there");
    symlink(file.path(), link.path()).expect("links can be made");
    Ledger::record(link.path(), entry("1", "", &["a reject 1"]), true).expect("it can be written");
    assert!(fs::symlink_metadata(link.path()).expect("it is there").is_symlink());
    assert!(file.text().contains("answer: reject"));
    let mode = fs::metadata(file.path()).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

/// A run reads the file before it writes it, so no other run may write in between.
#[cfg(target_os = "linux")]
#[test]
fn a_run_waits_for_the_lock_of_the_ledger() {
    let file = Scratch::new("awaited.yaml", "");
    let lock = crate::FileLock::acquire(file.as_ref());
    let path = file.path().to_owned();
    let other =
        std::thread::spawn(move || Ledger::record(&path, entry("1", "", &["a reject 1"]), true).map(drop));
    while !dmlcts_tests::is_awaited(&std::env::temp_dir()) && !other.is_finished() {
        std::thread::yield_now();
    }
    assert_eq!((other.is_finished(), file.text().as_str()), (false, ""));
    drop(lock);
    other.join().expect("it does not panic").expect("it can be written");
    assert!(file.text().contains("answer: reject"));
}
