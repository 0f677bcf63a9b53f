extension ActivityMonitor {
    /// Something that shows whether there is activity: a spinner, a log line, a gauge.
    public protocol Display: Sendable {
        /// Called with every change, one after another. It must not wait.
        func activityChanged(to isActive: Bool)
    }
}
