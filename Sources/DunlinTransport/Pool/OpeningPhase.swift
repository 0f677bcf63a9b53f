/// What a connection that is being opened is at.
enum OpeningPhase: CaseIterable {
    case resolve
    case connect
    case proxyTLS
    case tunnel
    case tls
}

/// What became of an opening.
enum OpeningEnd {
    case opened
    case failed
    /// The request that opened it was cancelled: that says nothing about the origin.
    case cancelled
}

/// How many openings are in each phase.
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
