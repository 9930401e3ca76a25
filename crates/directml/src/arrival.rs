//! The memory that comes back from a flight, and its way into the batch.

use crate::placement::ArenaPart;

/// The memory of a finished flight. It holds no reference to the device.
pub(crate) struct Arrived {
    /// The job of each run, with the locations of its input and its output.
    pub(crate) pieces: Vec<(usize, [ArenaPart; 2])>,
    pub(crate) inputs: Vec<u8>,
    pub(crate) outputs: Vec<u8>,
}

impl Arrived {
    /// The jobs whose runs were part of the flight, one for each run.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().map(|(job, _)| *job)
    }

    /// Copies the memory into the batch's arenas: the tensors, and the guards that changed. Skips the runs of
    /// jobs that are not `wanted`.
    pub(crate) fn unload(&self, inputs: &mut [u8], outputs: &mut [u8], wanted: impl Fn(usize) -> bool) {
        for (side, arena, memory) in [(0, inputs, &self.inputs), (1, outputs, &self.outputs)] {
            let parts = || self.pieces.iter().filter(|(job, _)| wanted(*job)).map(|(_, parts)| &parts[side]);
            // Guards of neighbours overlap, so all are compared before any is written.
            let mut spoiled = Vec::new();
            for part in parts() {
                for guard in [part.whole.start..part.tensor.start, part.tensor.end..part.whole.end] {
                    let on_device = part.on_device(&guard);
                    if memory[on_device.clone()] != arena[guard.clone()] {
                        spoiled.push((guard, on_device));
                    }
                }
            }
            for part in parts() {
                arena[part.tensor.clone()].copy_from_slice(&memory[part.on_device(&part.tensor)]);
            }
            for (guard, on_device) in spoiled {
                arena[guard].copy_from_slice(&memory[on_device]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tensors of four bytes, 32 bytes apart, so that they share the guard between them.
    fn arrived(outputs: impl Fn(&[ArenaPart; 2], &mut [u8])) -> Arrived {
        let arena = 104;
        let parts = [(32..36, 256), (68..72, 768)].map(|(tensor, at)| ArenaPart::new(arena, &tensor, at));
        let input = ArenaPart::new(arena, &(32..36), 32);
        assert_eq!(parts[1].bytes(), 768..772);
        let mut memory = vec![0; 1024];
        for part in &parts {
            memory[part.on_device(&part.whole)].fill(0xCC);
        }
        outputs(&parts, &mut memory);
        let mut inputs = vec![0; 1024];
        inputs[input.on_device(&input.whole)].fill(7);
        let [one, other] = parts;
        let pieces = vec![(3, [input.clone(), one]), (5, [input, other])];
        Arrived { pieces, inputs, outputs: memory }
    }

    #[test]
    fn tensors_arrive_and_what_lies_between_them_stays() {
        let arrived = arrived(|parts, memory| {
            memory[parts[0].on_device(&(32..36))].copy_from_slice(&[1, 2, 3, 4]);
            memory[parts[1].on_device(&(68..72))].copy_from_slice(&[5, 6, 7, 8]);
        });
        let (mut inputs, mut outputs) = (vec![7; 104], vec![0xCC; 104]);
        arrived.unload(&mut inputs, &mut outputs, |_| true);
        let mut expected = vec![0xCC; 104];
        expected[32..36].copy_from_slice(&[1, 2, 3, 4]);
        expected[68..72].copy_from_slice(&[5, 6, 7, 8]);
        assert_eq!((inputs, outputs), (vec![7; 104], expected));
        assert!(arrived.jobs().eq([3, 5]));
    }

    #[test]
    fn a_spoiled_guard_arrives_whichever_of_two_neighbours_it_belongs_to() {
        for (part, byte) in [(0, 40), (1, 60), (0, 31), (1, 103)] {
            let arrived = arrived(|parts, memory| memory[parts[part].on_device(&(byte..byte + 1))].fill(0));
            let (mut inputs, mut outputs) = (vec![7; 104], vec![0xCC; 104]);
            arrived.unload(&mut inputs, &mut outputs, |_| true);
            assert_eq!(outputs.iter().position(|byte| *byte == 0), Some(byte));
            let mut outputs = vec![0xCC; 104];
            arrived.unload(&mut inputs, &mut outputs, |_| false);
            assert_eq!(outputs, vec![0xCC; 104], "nobody wanted it");
        }
    }

    #[test]
    fn a_changed_input_arrives() {
        let mut arrived = arrived(|_, _| {});
        arrived.inputs[33] = 8;
        let (mut inputs, mut outputs) = (vec![7; 104], vec![0xCC; 104]);
        arrived.unload(&mut inputs, &mut outputs, |_| true);
        assert_eq!(inputs.iter().position(|byte| *byte == 8), Some(33));
    }
}
