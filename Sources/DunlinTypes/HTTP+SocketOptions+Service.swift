extension HTTP.SocketOptions {
    /// The purpose of traffic. This machine's queues serve it accordingly, and so do routers that go by it.
    public enum ServiceType: String, Sendable, Hashable, CaseIterable {
        case normal
        /// A phone call.
        case voip
        case voice
        case video
        /// Traffic that a user waits for.
        case responsive
        /// Traffic that nobody waits for.
        case background
    }

    /// Sets the code point (RFC 4594) and priority for `service`. None of them needs a privilege.
    public mutating func serve(_ service: ServiceType) {
        switch service {
        case .normal: (differentiatedServices, priority) = (nil, nil)
        case .voip, .voice: (differentiatedServices, priority) = (46, 6)
        case .video: (differentiatedServices, priority) = (34, 5)
        case .responsive: (differentiatedServices, priority) = (18, 4)
        case .background: (differentiatedServices, priority) = (8, 1)
        }
    }
}
