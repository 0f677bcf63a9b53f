/// What the arguments say of who asks.
struct GivenLogin: Sendable {
    /// By --user: the client's session sends it.
    var user: SessionCredentials?
    /// By --bearer or a field: the request has it itself.
    var inRequest: SessionCredentials?
    /// Whether a password never answers Basic.
    var answersDigestAlone = false
    /// Whether the request has another method than GET or HEAD, or a body.
    var isMoreThanGET = false
}
