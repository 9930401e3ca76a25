//! The host when the deadline of the run comes: answers stand, unanswered cases are lost, and no case is
//! blamed.

use super::*;

/// A host with a deadline soon after its process says hello, and its incidents.
fn host(way: &str) -> (Host, Incidents) {
    let command = format!("'{}' {way}", env!("CARGO_BIN_EXE_dmlcts-puppet"));
    (0..8)
        .find_map(|power| {
            let incidents = Incidents::default();
            let launcher = Launcher::new(Command::parse(&command).expect("a command"), NEVER);
            let end = Instant::now() + Duration::from_millis(500 << power);
            let launcher = Arc::new(launcher.with_incidents(incidents.clone()).with_end(Some(end)));
            Some((launcher.host(Purpose::Cases).ok()?, incidents))
        })
        .expect("the puppet starts")
}

/// A host with a deadline that is set during the run.
fn interrupted(way: &str) -> (Host, Incidents) {
    let (incidents, deadline) = (Incidents::default(), Deadline::default());
    let command = format!("'{}' {way}", env!("CARGO_BIN_EXE_dmlcts-puppet"));
    let launcher = Launcher::new(Command::parse(&command).expect("a command"), NEVER);
    let launcher = launcher.with_incidents(incidents.clone()).with_deadline(deadline.clone());
    let host = Arc::new(launcher).host(Purpose::Cases).expect("the puppet starts");
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        deadline.set(Instant::now() + Duration::from_millis(200));
    });
    (host, incidents)
}

/// Whether a case was answered, or crashed as the first case of a process.
fn is_settled(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Crashed(how) => !how.contains("no case repeats it alone"),
        outcome => *outcome == Outcome::Output,
    }
}

/// Runs cases of this kind until the deadline. If nothing else reaches it, a case that hangs does.
fn cut_off((mut host, incidents): (Host, Incidents), way: &str, trouble: Trouble) {
    let mut first = [trouble; 41];
    first[0] = Trouble::None;
    let mut batches = [batch(&first), batch(&[trouble, Trouble::Hangs, trouble])];
    for batch in &mut batches {
        host.start(batch);
    }
    for batch in &mut batches {
        host.finish(batch);
    }
    let outcomes: Vec<&Outcome> = batches.iter().flat_map(Batch::jobs).map(|job| &job.outcome).collect();
    let answered = outcomes.iter().take_while(|outcome| is_settled(outcome)).count();
    assert!(answered < 43, "{way}: it hangs");
    assert!(outcomes[answered..].iter().all(|outcome| **outcome == Outcome::Lost), "{way}: {outcomes:?}");
    assert_eq!(host.lost(), None, "{way}");
    let mut told = std::iter::from_fn(|| incidents.take());
    assert_eq!(told.find(|sentence| sentence.contains("silent")), None, "{way}");
    // No process starts after the deadline, and this is no fault either.
    let mut late = batch(&[Trouble::None]);
    host.run(&mut late);
    assert_eq!((&late.jobs()[0].outcome, host.lost()), (&Outcome::Lost, None), "{way}");
}

#[test]
fn every_case_is_cut_off_at_the_deadline() {
    at_once(WAYS, |way| {
        for trouble in [Trouble::None, Trouble::Ends, Trouble::TakesLong] {
            cut_off(host(way), way, trouble);
        }
    });
}

#[test]
fn an_interrupt_cuts_every_case_off() {
    at_once(WAYS, |way| {
        for trouble in [Trouble::None, Trouble::Ends, Trouble::TakesLong] {
            cut_off(interrupted(way), way, trouble);
        }
    });
}
