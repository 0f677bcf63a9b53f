package import DunlinResilience

/// What comes of an attempt.
package enum Answer {
    /// With what a server says of its limit.
    case good(LearnedLimit?)
    /// 503.
    case overloaded
    /// 429, and how long the server asks to be left alone.
    case limited(LearnedLimit, retryAfter: Int64)
    /// There was no connection, or it was lost.
    case lost
    case timedOut
}
