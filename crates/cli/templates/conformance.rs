fn main() {
    dmlcts_kit::Gate::new(mine::Mine::open).suite("ci").findings("findings/mine").test()
}
