//! The times of a backend that is slow in one place: most of the time is there. The machine may be busy, so
//! only shares are compared.

use std::{sync::Arc, thread, time::Duration};

use dmlcts_backend::{
    Backend, Batch, Capabilities, Immediate, Interleaved, Operators, Refusal, RunError, Sequential,
};
use dmlcts_model::{BindingOffsets, Desc, FeatureLevel};
use dmlcts_reference::Reference;
use dmlcts_runner::{Factory, Timings};

use crate::fixture::{BYTES, REVERSAL, STRIDED, run_of, summary};

/// The place where a backend is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    Create,
    Run,
    Transfer,
}

/// The reference, which sleeps in one place.
struct Slow {
    reference: Reference,
    place: Place,
}

impl Slow {
    fn opened(place: Place) -> Self {
        let slow = Self { reference: Reference::new(), place };
        slow.sleep(Place::Start);
        slow
    }

    fn sleep(&self, place: Place) {
        if self.place == place {
            thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Operators for Slow {
    type Operator = <Reference as Operators>::Operator;

    fn capabilities(&self) -> &Capabilities {
        self.reference.capabilities()
    }

    fn create(&mut self, desc: &Desc) -> Result<Self::Operator, Refusal> {
        self.sleep(Place::Create);
        self.reference.create(desc)
    }

    fn run(
        &mut self,
        operator: &mut Self::Operator,
        binding: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        self.sleep(Place::Run);
        self.reference.run(operator, binding, input, output)
    }
}

/// A backend that is slow around its own work.
struct SlowAround(Interleaved<Slow>);

impl Backend for SlowAround {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, batch: &mut Batch) {
        self.0.run(batch);
        thread::sleep(Duration::from_millis(200));
    }
}

fn timings(backend: Arc<Factory>) -> Timings {
    let summary = summary(&run_of(&[REVERSAL, BYTES, STRIDED], backend));
    summary.timings.expect("a run has times")
}

#[test]
fn most_of_the_time_is_where_the_backend_is_slow() {
    for place in [Place::Start, Place::Create, Place::Run, Place::Transfer] {
        let timings = timings(Arc::new(move |_| {
            let backend = Interleaved::new(Slow::opened(place));
            Ok(if place == Place::Transfer {
                Box::new(Immediate(SlowAround(backend)))
            } else {
                Box::new(backend)
            })
        }));
        let (work, transfer) =
            (timings.work.expect("it is measured"), timings.transfer().expect("it follows"));
        let times = [
            (Place::Start, timings.start),
            (Place::Create, work.create),
            (Place::Run, work.run),
            (Place::Transfer, transfer),
        ];
        let all = times.iter().map(|(_, time)| *time).sum::<Duration>() + timings.host;
        for (of, time) in times {
            assert_eq!(2 * time > all, of == place, "{of:?}: {timings:?}");
        }
    }
}

#[test]
fn a_backend_that_measures_nothing_has_the_time_of_its_answers() {
    let timings = timings(Arc::new(|_| Ok(Box::new(Sequential(Slow::opened(Place::Create))))));
    assert_eq!((timings.work, timings.transfer()), (None, None));
    assert!(timings.answer > timings.start + timings.host, "{timings:?}");
}
