extension Duration {
    /// How long the waits of a test last at most unless it says otherwise, in real time: five minutes. Only what never
    /// comes takes so long, however much else the machine has to do.
    public static var patience: Duration { .seconds(300) }
}
