//! Faults of backends with state: caches with an incomplete key, slots that are used again, and counters.

use crate::{
    fault::BackendState,
    kernel::{OperatorKind, Plan},
    mutant::{ALL, Mutant, Needs, PADDING1, SLICE1, SLICES},
};

/// The maximum number of operators in a cache.
const CACHE: usize = 1024;

/// Replaces an operator with the first cached one of the same key. `forget` clears the fields that the key
/// lacks.
fn cached(plan: &mut Plan, state: &mut BackendState, forget: fn(&mut Plan)) {
    let mut key = plan.clone();
    forget(&mut key);
    if let Some((_, first)) = state.cache.iter().find(|(known, _)| *known == key) {
        *plan = first.clone();
        return;
    }
    if state.cache.len() == CACHE {
        state.cache.clear();
    }
    state.cache.push((key, plan.clone()));
}

/// A mutant of this theme.
const fn state(name: &'static str, operators: &'static [&'static str]) -> Mutant {
    Mutant::new(name, operators).seen_in("state")
}

pub(crate) const MUTANTS: &[Mutant] = &[
    state("answers-for-the-previous-case", ALL)
        .about("the output is that of the previous run, if it has the same number of bytes")
        .witness(&[
            "SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1",
            "SLICE FLOAT32 in=4 out=2 Offsets=2 Sizes=2 Strides=1",
        ])
        .after(|_, memory, state| {
            let output = memory.output();
            let own = output.to_vec();
            if state.bytes.len() == own.len() {
                output.copy_from_slice(&state.bytes);
            }
            state.bytes = own;
        }),
    state("runs-the-previous-operator", ALL)
        .about("an operator with the rank and type of the previous one runs as that one")
        .witness(&[
            "SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1",
            "SLICE FLOAT32 in=4 out=2 Offsets=2 Sizes=2 Strides=1",
        ])
        .plan(|plan, state| {
            let own = plan.clone();
            if let Some(last) = state.plans.pop().filter(|last| {
                (last.rank(), last.data_type, last.kind) == (own.rank(), own.data_type, own.kind)
            }) {
                *plan = last;
            }
            state.plans.push(own);
        }),
    state("cache-without-input-strides", ALL)
        .about("the key of the cache lacks the input's strides")
        .witness(&[
            "SLICE FLOAT32 in=2,2 out=2,2 Sizes=2,2 Offsets=0,0 Strides=1,1",
            "SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=1,2 Sizes=2,2 Offsets=0,0 Strides=1,1",
        ])
        .plan(|plan, state| {
            cached(plan, state, |key| {
                key.each(|axis| axis.input_stride = 0);
                key.strided[0] = false;
            });
        }),
    state("cache-without-output-strides", ALL)
        .about("the key of the cache lacks the output's strides")
        .witness(&[
            "SLICE FLOAT32 in=2,2 out=2,2 Sizes=2,2 Offsets=0,0 Strides=1,1",
            "SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=1,2 Sizes=2,2 Offsets=0,0 Strides=1,1",
        ])
        .plan(|plan, state| {
            cached(plan, state, |key| {
                key.each(|axis| axis.output_stride = 0);
                key.strided[1] = false;
            });
        }),
    state("cache-without-offsets", SLICES)
        .about("the key of the cache lacks offsets")
        .witness(&[
            "SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1",
            "SLICE FLOAT32 in=4 out=2 Offsets=2 Sizes=2 Strides=1",
        ])
        .plan(|plan, state| cached(plan, state, |key| key.each(|axis| axis.offset = 0))),
    state("cache-without-windows", SLICE1)
        .about("the key of the cache lacks windows")
        .witness(&[
            "SLICE1 FLOAT32 in=4 out=2 InputWindowSizes=4 InputWindowStrides=-1 InputWindowOffsets=0",
            "SLICE1 FLOAT32 in=4 out=2 InputWindowSizes=3 InputWindowStrides=-1 InputWindowOffsets=0",
        ])
        .plan(|plan, state| cached(plan, state, |key| key.each(|axis| axis.window = 0))),
    state("cache-without-slice-strides", SLICES)
        .about("the key of the cache lacks the slice's strides")
        .witness(&[
            "SLICE FLOAT32 in=4 out=2 Strides=1 Sizes=2 Offsets=0",
            "SLICE FLOAT32 in=4 out=2 Strides=2 Sizes=2 Offsets=0",
        ])
        .plan(|plan, state| cached(plan, state, |key| key.each(|axis| axis.step = 0))),
    state("cache-without-mode", PADDING1)
        .about("the key of the cache lacks PaddingMode")
        .witness(&[
            "PADDING1 FLOAT32 in=3 out=4 PaddingMode=EDGE StartPadding=1 EndPadding=0",
            "PADDING1 FLOAT32 in=3 out=4 PaddingMode=REFLECTION StartPadding=1 EndPadding=0",
        ])
        .plan(|plan, state| cached(plan, state, |key| key.mode = 0)),
    state("cache-without-value", PADDING1)
        .about("the key of the cache lacks PaddingValue")
        .witness(&[
            "PADDING1 FLOAT32 in=3 out=4 PaddingMode=CONSTANT StartPadding=1 PaddingValue=1 EndPadding=0",
            "PADDING1 FLOAT32 in=3 out=4 PaddingMode=CONSTANT StartPadding=1 PaddingValue=2 EndPadding=0",
        ])
        .plan(|plan, state| cached(plan, state, |key| key.value = [0; 8])),
    state("cache-without-paddings", PADDING1)
        .about("the key of the cache has the sizes of input and output, but not the paddings")
        .witness(&[
            "PADDING1 FLOAT32 in=3 out=4 PaddingMode=EDGE StartPadding=1 EndPadding=0",
            "PADDING1 FLOAT32 in=3 out=4 PaddingMode=EDGE EndPadding=1 StartPadding=0",
        ])
        .plan(|plan, state| cached(plan, state, |key| key.each(|axis| (axis.start, axis.end) = (0, 0)))),
    state("cache-without-operator", SLICES)
        .about("the key of the cache does not tell SLICE from SLICE1")
        .witness(&[
            "SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1",
            "SLICE1 FLOAT32 in=4 out=2 InputWindowSizes=4 InputWindowStrides=-1 InputWindowOffsets=0",
        ])
        .plan(|plan, state| {
            cached(plan, state, |key| {
                if key.kind == OperatorKind::Slice1 {
                    key.kind = OperatorKind::Slice;
                }
                key.each(|axis| (axis.window, axis.step) = (0, 0));
            });
        }),
    state("cache-mixes-zeros", PADDING1)
        .about("the cache of padding values takes 0 and -0 for the same value")
        .seen_in("TensorFlow 2.21.0")
        .witness(&[
            "PADDING1 FLOAT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=0 EndPadding=0",
            "PADDING1 FLOAT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=-0 EndPadding=0",
        ])
        .plan(|plan, state| {
            let bits = u32::from_le_bytes([plan.value[0], plan.value[1], plan.value[2], plan.value[3]]);
            if plan.kind == OperatorKind::Padding1 && plan.width == 4 && bits << 1 == 0 {
                match state.plans.first() {
                    Some(first) => plan.value = first.value,
                    None => state.plans.push(plan.clone()),
                }
            }
        }),
    state("list-of-the-previous-desc", SLICES)
        .about("offsets are read from memory that the previous desc of the same rank has left")
        .witness(&[
            "SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1",
            "SLICE FLOAT32 in=4 out=2 Offsets=2 Sizes=2 Strides=1",
        ])
        .plan(|plan, state| {
            let own = plan.clone();
            if let Some(last) = state.plans.pop().filter(|last| last.rank() == own.rank()) {
                plan.axes.iter_mut().zip(last.axes).for_each(|(axis, last)| axis.offset = last.offset);
            }
            state.plans.push(own);
        }),
    state("validity-by-type-and-rank", ALL)
        .about("a desc is accepted if one with the same operator, type and rank was accepted")
        .witness(&[
            "SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1",
            "SLICE FLOAT32 in=4 out=2 Offsets=3 Sizes=2 Strides=1",
        ])
        .judge(|asked, state| {
            let Some(own) = Plan::of(asked.desc) else { return asked.is_valid() };
            let is_known = state.plans.iter().any(|known| {
                (known.kind, known.data_type, known.rank()) == (own.kind, own.data_type, own.rank())
            });
            if asked.is_valid() && !is_known {
                state.plans.push(own);
            }
            asked.is_valid() || is_known && asked.refusal.is_some_and(|refusal| refusal.contains("input"))
        }),
    state("error-state-stays", ALL)
        .about("the operator that is created after a refusal does nothing")
        .witness(&[
            "SLICE FLOAT32 in=4 out=2 Offsets=3 Sizes=2 Strides=1",
            "SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1",
        ])
        .judge(|asked, state| {
            if !asked.is_valid() {
                state.bytes = vec![1];
            }
            asked.is_valid()
        })
        .plan(|plan, state| {
            if !std::mem::take(&mut state.bytes).is_empty() {
                plan.write_nothing();
            }
        }),
    state("second-run-adds-up", ALL)
        .about("the second run of an operator adds to the first one's output")
        .witness(&["SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1"])
        .after(|_, memory, state| {
            let first = std::mem::replace(&mut state.bytes, memory.output().to_vec());
            if state.runs_of_operator > 0 {
                memory
                    .output()
                    .iter_mut()
                    .zip(first)
                    .for_each(|(byte, first)| *byte = byte.wrapping_add(first));
            }
        }),
    state("second-run-writes-nothing", ALL)
        .about("the second run of an operator writes nothing")
        .witness(&["SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1"])
        .after(|_, memory, state| {
            if state.runs_of_operator > 0 {
                memory.output().fill(0xee);
            }
        }),
    state("sixteen-slots", ALL)
        .about("operators live in sixteen slots: the seventeenth of a batch runs as the first one")
        .witness(&[
            "16x SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1",
            "SLICE FLOAT32 in=4 out=2 Offsets=2 Sizes=2 Strides=1",
        ])
        .plan(|plan, state| {
            if let Some(first) = state.live.len().checked_sub(16).and_then(|slot| state.live.get(slot)) {
                *plan = first.clone();
            }
        }),
    state("thirty-two-slots", ALL)
        .about("operators live in 32 slots: the next one of a batch runs as the first one")
        .witness(&[
            "32x SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1",
            "SLICE FLOAT32 in=4 out=2 Offsets=2 Sizes=2 Strides=1",
        ])
        .plan(|plan, state| {
            if let Some(first) = state.live.len().checked_sub(32).and_then(|slot| state.live.get(slot)) {
                *plan = first.clone();
            }
        }),
    state("eight-operators-at-once", ALL)
        .about("the ninth operator of a batch does nothing")
        .witness(&["9x SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1"])
        .plan_where(|_, state| state.live.len() >= 8, Plan::write_nothing),
    state("thousand-operators-at-once", ALL)
        .about("the thousand and first operator of a batch does nothing")
        .needs(Needs::Beyond("more than a thousand operators at once"))
        .witness(&["1001x SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1"])
        .plan_where(|_, state| state.live.len() >= 1000, Plan::write_nothing),
    state("counter-of-eight-bits", ALL)
        .about("every 256th operator does nothing")
        .witness(&["256x SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1"])
        .plan_where(|_, state| state.created % 256 == 255, Plan::write_nothing),
    state("counter-of-sixteen-bits", ALL)
        .about("every 65536th operator does nothing")
        .needs(Needs::ManyCases("more than 2^16 operators of one process"))
        .witness(&["65536x SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1"])
        .plan_where(|_, state| state.created % 65536 == 65535, Plan::write_nothing),
    state("handles-run-out", ALL)
        .about("the 10000th operator is refused: handles are not given back")
        .needs(Needs::ManyCases("10000 operators of one process"))
        .witness(&["10000x SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1"])
        .judge(|asked, state| asked.is_valid() && state.created < 9999),
    state("one-run-of-ten", ALL)
        .about("one run of ten is wrong")
        .witness(&["5x SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1"])
        .after(|_, memory, state| {
            if state.runs % 10 == 9 {
                memory.spoil_output(0);
            }
        }),
    state("one-run-of-a-thousand", ALL)
        .about("one run of a thousand is wrong")
        .needs(Needs::ManyCases("a thousand runs"))
        .witness(&["500x SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1"])
        .after(|_, memory, state| {
            if state.runs % 1000 == 999 {
                memory.spoil_output(0);
            }
        }),
    state("first-run-is-cold", ALL)
        .about("the first run of a process writes nothing")
        .witness(&["SLICE FLOAT32 in=4 out=2 Sizes=2 Offsets=0 Strides=1"])
        .after(|_, memory, state| {
            if state.runs == 0 {
                memory.output().fill(0xee);
            }
        }),
    state("strided-after-packed", ALL)
        .about("an operator with a strided input that follows one without reads it as packed")
        .witness(&[
            "SLICE FLOAT32 in=2,2 out=2,2 Sizes=2,2 Offsets=0,0 Strides=1,1",
            "SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=1,2 Sizes=2,2 Offsets=0,0 Strides=1,1",
        ])
        .plan(|plan, state| {
            let is_strided = std::mem::replace(&mut state.bytes, vec![u8::from(plan.strided[0])]);
            if is_strided == [0] && plan.strided[0] {
                plan.pack_input();
            }
        }),
];
