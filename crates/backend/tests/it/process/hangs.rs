//! Cases that hang, and cases that together take longer than the deadline.

use super::*;

#[test]
fn a_hang_is_cut_at_its_deadline() {
    let started = Instant::now();
    let batch = run_in(&mut host("each"), &[Trouble::None, Trouble::Hangs, Trouble::None]);
    let outcomes: Vec<&Outcome> = batch.jobs().iter().map(|job| &job.outcome).collect();
    assert_eq!(outcomes, [&Outcome::Output, &Outcome::TimedOut, &Outcome::Output]);
    check_copies(&batch);
    assert!(started.elapsed() > CASE_TIMEOUT, "{:?}", started.elapsed());
}

/// The incidents that have not been read.
fn incidents_of(incidents: &Incidents) -> Vec<String> {
    std::iter::from_fn(|| incidents.take()).collect()
}

/// A backend that answers a whole run at once is reported as slow if the cases of a run together take longer
/// than one case may.
#[test]
fn cases_that_take_long_together_are_nobodys_fault() {
    at_once(["batch", "two"], |way| {
        let incidents = Incidents::default();
        let launcher = Launcher::new(command(way, &memory()), CASE_TIMEOUT).with_incidents(incidents.clone());
        let mut host = Arc::new(launcher).host(Purpose::Cases).expect("the puppet starts");
        let (mut first, mut second) = (batch(&[Trouble::TakesLong; 30]), batch(&[Trouble::TakesLong; 30]));
        host.start(&mut first);
        host.start(&mut second);
        host.finish(&mut first);
        host.finish(&mut second);
        for batch in [&first, &second] {
            check_copies(batch);
            let mut jobs = batch.jobs().iter();
            assert!(jobs.all(|job| job.outcome == Outcome::Output), "{way}: {:?}", batch.jobs());
        }
        let told = incidents_of(&incidents);
        assert!(told[0].starts_with("a backend process failed: it was silent for 1.5 s"), "{told:?}");
        let silent =
            "no case hung alone: a process gave no answer to 30 cases within --case-timeout (1.5 s), ";
        assert!(told[1].starts_with(silent), "{told:?}");
    });
}

/// A backend that declares that it compiles has this time, too, before it counts as hung.
#[test]
fn a_backend_that_compiles_may_take_longer() {
    let incidents = Incidents::default();
    let launcher =
        Launcher::new(command("compiles", &memory()), CASE_TIMEOUT).with_incidents(incidents.clone());
    let mut host = Arc::new(launcher).host(Purpose::Cases).expect("the puppet starts");
    let batch = run_in(&mut host, &[Trouble::TakesLong; 30]);
    check_copies(&batch);
    assert!(batch.jobs().iter().all(|job| job.outcome == Outcome::Output), "{:?}", batch.jobs());
    assert!(incidents_of(&incidents).is_empty());
}

/// A backend that says which phase begins gets this time for each creation and for no run.
#[test]
fn a_backend_that_tells_its_phases_may_create_for_long_and_not_run_for_long() {
    let (started, incidents) = (Instant::now(), Incidents::default());
    let launcher =
        Launcher::new(command("phases", &memory()), CASE_TIMEOUT).with_incidents(incidents.clone());
    let mut host = Arc::new(launcher).host(Purpose::Cases).expect("the puppet starts");
    let outcomes = |troubles: &[Trouble], host: &mut Host| {
        let batch = run_in(host, troubles);
        check_copies(&batch);
        batch.jobs().iter().map(|job| job.outcome.clone()).collect::<Vec<_>>()
    };
    let compiled = outcomes(&[Trouble::None, Trouble::Compiles], &mut host);
    assert_eq!(compiled, [Outcome::Output, Outcome::Output]);
    assert!(incidents_of(&incidents).is_empty());
    let hung = outcomes(&[Trouble::None, Trouble::Hangs], &mut host);
    assert_eq!(hung, [Outcome::Output, Outcome::TimedOut]);
    assert!(started.elapsed() < Duration::from_secs(600), "it waited for the time to create");
}

#[test]
fn a_hang_among_cases_that_take_long_is_found() {
    let mut troubles = [Trouble::TakesLong; 30];
    troubles[20] = Trouble::Hangs;
    let batch = run_in(&mut host("batch"), &troubles);
    check_copies(&batch);
    for (job, trouble) in batch.jobs().iter().zip(troubles) {
        assert_eq!(job.outcome == Outcome::TimedOut, trouble == Trouble::Hangs, "{:?}", job.outcome);
    }
}

/// A busy machine may have been the reason, so it is told and no case is blamed.
#[test]
fn a_hang_that_does_not_come_again_is_told() {
    for cases in [1, 20] {
        let mut troubles = vec![Trouble::None; cases];
        troubles[cases / 3] = Trouble::HangsOnce;
        let incidents = Incidents::default();
        let launcher =
            Launcher::new(command("batch", &memory()), CASE_TIMEOUT).with_incidents(incidents.clone());
        let batch =
            run_in(&mut Arc::new(launcher).host(Purpose::Cases).expect("the puppet starts"), &troubles);
        check_copies(&batch);
        assert!(batch.jobs().iter().all(|job| job.outcome == Outcome::Output), "{:?}", batch.jobs());
        let told = incidents_of(&incidents);
        assert!(told.iter().any(|sentence| sentence.starts_with("no case hung alone: ")), "{told:?}");
    }
}

/// After this number of hangs, no host sends more cases, whichever host they came to. Retries do not count,
/// since their cases are known to hang.
#[test]
fn hangs_that_are_looked_at_again_are_none_of_those_that_end_a_run() {
    let command = command("each", &memory());
    let launcher = Arc::new(Launcher::new(command, CASE_TIMEOUT).with_max_hangs(Some(2)));
    let host = |purpose| launcher.host(purpose).expect("the puppet starts");
    let (mut first, mut again) = (host(Purpose::Cases), host(Purpose::Retries));
    let hung = |host: &mut Host, hangs: usize| {
        let mut troubles = vec![Trouble::Hangs; hangs];
        troubles.insert(0, Trouble::None);
        run_in(host, &troubles).jobs().iter().filter(|job| job.outcome == Outcome::TimedOut).count()
    };
    assert_eq!(hung(&mut first, 1), 1);
    assert_eq!(hung(&mut again, 2), 2);
    assert_eq!(hung(&mut first, 2), 1, "one more may hang");
    assert_eq!(hung(&mut again, 1), 0, "and then nobody is asked for anything");
}
