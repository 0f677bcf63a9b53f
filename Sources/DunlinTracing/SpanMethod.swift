#if Tracing
    internal import Dunlin

    /// A method as spans name it.
    struct SpanMethod: Sendable {
        /// The method, if it is known, or `_OTHER`.
        let known: String
        /// The method as it was sent, if it is another.
        let original: String?

        init(_ method: HTTP.Method, _ settings: HTTPSession.SpanSettings) {
            let isKnown = settings.knownMethods.contains(method)
            known = isKnown ? method.rawValue : "_OTHER"
            original = isKnown ? nil : SpanText.word(method.rawValue)
        }

        /// The name of a span: `GET users/{id}`, or `GET` without a template.
        func name(_ template: String?) -> String {
            let method = original == nil ? known : "HTTP"
            return template.map { "\(method) \($0)" } ?? method
        }
    }
#endif
