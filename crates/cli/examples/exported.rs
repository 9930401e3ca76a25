//! The reference as a shared library, which the tests load. `EXPORTED_FAULT` plants a fault in it.

use std::env;

use dmlcts_kit::{BindingOffsets, Capabilities, Desc, Operators, Refusal, RunError};
use dmlcts_reference::{Operator, Reference};

struct Exported {
    reference: Reference,
    capabilities: Capabilities,
    fault: String,
}

impl Exported {
    fn open() -> Result<Self, String> {
        let fault = env::var("EXPORTED_FAULT").unwrap_or_default();
        match fault.as_str() {
            "no-device" => return Err("there is no device".to_owned()),
            "open-panics" => panic!("the driver is {}", "old"),
            _ => {}
        }
        let version = if fault == "zero-byte" { "1\0" } else { "1" };
        Ok(Self { reference: Reference::new(), capabilities: Capabilities::new("exported", version), fault })
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        assert!(self.fault != "close-panics", "the device is in use");
    }
}

impl Operators for Exported {
    type Operator = Operator;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create(&mut self, desc: &Desc) -> Result<Operator, Refusal> {
        assert!(self.fault != "create-panics", "{} has {} axes", desc.signature.operator, desc.rank());
        self.reference.create(desc)
    }

    fn run(
        &mut self,
        operator: &mut Operator,
        binding: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        assert!(self.fault != "run-panics", "no kernel");
        self.reference.run(operator, binding, input, output)?;
        if self.fault == "wrong-value" {
            output[0] ^= 1;
        }
        Ok(())
    }
}

dmlcts_kit::export!(Exported::open);
