/// The phase of a connection that is being opened.
enum OpeningPhase: CaseIterable {
    case resolve
    case connect
    case proxyTLS
    case tunnel
    case tls
}

/// How an opening ended.
enum OpeningEnd {
    case opened
    case failed
    /// The request that opened it was cancelled, which says nothing about the origin.
    case cancelled
}

/// The number of openings in each phase.
struct OpeningCounts: Equatable {
    private var resolve = 0
    private var connect = 0
    private var proxyTLS = 0
    private var tunnel = 0
    private var tls = 0

    subscript(phase: OpeningPhase) -> Int {
        get {
            switch phase {
            case .resolve: resolve
            case .connect: connect
            case .proxyTLS: proxyTLS
            case .tunnel: tunnel
            case .tls: tls
            }
        }
        set {
            switch phase {
            case .resolve: resolve = newValue
            case .connect: connect = newValue
            case .proxyTLS: proxyTLS = newValue
            case .tunnel: tunnel = newValue
            case .tls: tls = newValue
            }
        }
    }
}
