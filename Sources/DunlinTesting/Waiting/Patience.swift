extension Duration {
    /// The default limit of a test's waits in real time: five minutes. Only a wait for something that never comes takes
    /// so long, however busy the machine is.
    public static var patience: Duration { .seconds(300) }
}
