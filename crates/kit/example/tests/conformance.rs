fn main() {
    dmlcts_kit::Gate::new(dmlcts_kit_example::Slices::open)
        .suite("ci")
        .findings("findings/dmlcts-kit-example")
        .snapshot("snapshots")
        .test()
}
