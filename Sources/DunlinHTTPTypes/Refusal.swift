#if HTTPTypes
    import Dunlin

    /// Errors for what one side's types can hold and the other's cannot.
    enum Refusal {
        static func request(_ reason: String) -> NetworkError { NetworkError(.invalidRequest, reason) }

        static func response(_ reason: String) -> NetworkError { NetworkError(.invalidResponse, reason) }

        /// A name as errors show it: as much as a name needs. The error escapes control characters.
        static func shown(_ name: String) -> String { "\"\(name.prefix(40))\"" }
    }
#endif
