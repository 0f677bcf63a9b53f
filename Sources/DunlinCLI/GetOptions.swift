import DunlinCommandLine

extension Command {
    /// What the options of a request say.
    struct GetOptions: Equatable, Sendable {
        /// Whether status and fields are shown before the body.
        var showsHead = false
        /// Whether the phases' durations are shown on standard error.
        var isVerbose = false
        /// The file to write the body to.
        var file: String?
        /// How often the request is retried.
        var retries = 0
        var trust = TrustOptions()
        var route = RouteOptions()
        /// Whether responses are stored, and served again.
        var usesCache = false
        /// The options of the request.
        var request = RequestOptions()
    }
}

// MARK: - The table

extension Command.GetOptions {
    static let table =
        printing + limits + RequestOptions.table.map { $0.lifted(\.request) }
        + TrustOptions.table.map { $0.lifted(\.trust) } + RouteOptions.table.map { $0.lifted(\.route) }

    static let sections = [
        OptionSection("print", title: "what is printed and written", printing.map(\.text)),
        RequestOptions.sendingSection,
        OptionSection("limits", title: "limits and retries", limits.map(\.text)),
        RequestOptions.loginSection, TrustOptions.section, RouteOptions.section,
    ]

    private static let printing: [Option<Self>] = [
        Option(
            "include", letter: "i", help: "prints status and fields before the body",
            details: "With the method HEAD this is the default.", isCommon: true, sets: \.showsHead),
        Option(
            "verbose", letter: "v", help: "prints where the time went, on standard error",
            details: "It also says how the connection was secured.", isCommon: true, sets: \.isVerbose),
        Option(
            "output", letter: "o", value: .file("FILE"), help: "writes the body to FILE, with a progress bar",
            details: "The file appears when it is complete. The bar is shown on standard error.", isCommon: true
        ) { (options, given) throws(UsageError) in options.file = try given.text },
        Option(
            "cache", help: "stores responses, and takes them from there while fresh", sets: \.usesCache),
        Option(
            "curl", help: "prints a curl command and sends nothing",
            details: "Secrets are left out.", sets: \.request.printsCurl),
        Option(
            "show-secrets", help: "with --curl: prints secrets too, so that it works", sets: \.request.showsSecrets),
        Option(
            "trace", help: "prints what goes over the wire, on standard error",
            details: "It prints connections, heads as sent and as received, and sizes. Secret fields are left out.",
            sets: \.request.traces),
    ]

    private static let limits: [Option<Self>] = [
        Option(
            "max-time", letter: "m", value: .text("SECONDS"), help: "gives up after so long in total", isCommon: true
        ) { (options, given) throws(UsageError) in options.request.limit = try RequestOptions.seconds(given) },
        Option(
            "retry", value: .text("N"), help: "retries up to N times, after a wait",
            details: "It retries when the connection fails, a phase takes too long, or the server is busy (408, 425, "
                + "429, 502, 503, 504); POST and PATCH only if the server has not processed them."
        ) { (options, given) throws(UsageError) in options.retries = try given.number(0...100) },
    ]
}
