import Dunlin
import DunlinCommandLine
import DunlinTypes

extension Command {
    /// What the options of a request say.
    struct GetOptions: Equatable, Sendable {
        /// Whether status and fields are shown before the body.
        var showsHead = false
        /// Whether the phases' durations are shown on standard error.
        var isVerbose = false
        /// Whether nothing but the result is shown, and whether errors are shown even so.
        var isSilent = false
        var showsErrors = false
        /// Whether the body of a refusal is left out.
        var hidesRefusals = false
        /// Whether the file is called like the last segment of the URL's path.
        var namesFileByURL = false
        /// Whether a download continues where an earlier one ended.
        var continues = false
        /// The number of redirects that are followed; nil for the usual one.
        var redirects: Int?
        /// The file to write the body to.
        var file: String?
        /// How often the request is retried.
        var retries = 0
        /// How the body is printed.
        var print = PrintOptions()
        /// The most bytes a second; nil for no limit.
        var rate: Rate?
        var trust = TrustOptions()
        var route = RouteOptions()
        /// What is kept in files.
        var kept = SessionOptions()
        /// Whether responses are stored, and served again.
        var usesCache = false
        /// The archive into which what is sent and received is written.
        var archive: String?
        /// What is printed after the body.
        var report: WriteOut?
        /// The options of the request.
        var request = RequestOptions()
    }
}

// MARK: - The table

extension Command.GetOptions {
    static let table =
        printing + bodies + limits + RequestOptions.table.map { $0.lifted(\.request) }
        + SessionOptions.table.map { $0.lifted(\.kept) }
        + TrustOptions.table.map { $0.lifted(\.trust) } + RouteOptions.table.map { $0.lifted(\.route) }

    static let sections = [
        OptionSection("print", title: "what is printed and written", (printing + bodies).map(\.text)),
        RequestOptions.sendingSection, RequestOptions.bodySection,
        limitSection, RequestOptions.loginSection, SessionOptions.section, TrustOptions.section, RouteOptions.section,
    ]

    private static let bodies = PrintOptions.table.map { $0.lifted(\Self.print) }

    private static let printing: [Option<Self>] =
        [
            Option(
                "include", letter: "i", help: "prints status and fields before the body",
                details: "With the method HEAD this is the default.", isCommon: true, sets: \.showsHead),
            Option(
                OptionText(
                    ["verbose"], letter: "v", help: "prints heads and times on standard error",
                    details: "It prints what --trace prints, where the time went, and how the connection was secured.",
                    isCommon: true)
            ) { options, _ in (options.isVerbose, options.request.traces) = (true, true) },
            Option(
                "output", letter: "o", value: .file("FILE"), help: "writes the body to FILE, with a progress bar",
                details: "The file appears when it is complete. The bar is shown on standard error. FILE - is standard "
                    + "output; devices and pipes are written to as the body arrives.", isCommon: true
            ) { (options, given) throws(UsageError) in
                let file = try given.text
                options.file = file == "-" ? nil : file
            },
            Option(
                "remote-name", letter: "O", help: "the same, called like the end of the URL", sets: \.namesFileByURL),
            Option(
                "continue-at", letter: "C", value: .words(["-"]),
                help: "with -o or -O: continues an earlier download, as without it",
                details:
                    "A download that fails or is stopped leaves its part beside the file, if the server says how to "
                    + "recognise the file, and the next one continues it if it is still the same."
            ) { (options, given) throws(UsageError) in
                try checkContinuing(given)
                options.continues = true
            },
            Option("silent", letter: "s", help: "prints no bar, warning or error", sets: \.isSilent),
            Option("show-error", letter: "S", help: "with -s: prints errors even so", sets: \.showsErrors),
            Option("fail", letter: "f", help: "prints no body of a status from 400 on", sets: \.hidesRefusals),
            Option("no-buffer", letter: "N", help: "prints each piece as it arrives, as without it"),
            Option(
                "cache", help: "stores responses, and takes them from there while fresh", sets: \.usesCache),
            Option(
                "curl", help: "prints a curl command and sends nothing",
                details: "Secrets are left out.", sets: \.request.printsCurl),
            Option(
                "offline", help: "prints the request and sends nothing",
                details:
                    "It prints the head as a server would get it, and the body. Secret values of the head are left "
                    + "out.", sets: \.request.isOffline),
            Option(
                "show-secrets", help: "with --curl or --offline: prints secrets too", sets: \.request.showsSecrets),
            Option(
                "trace", help: "prints what goes over the wire, on standard error",
                details: "It prints connections, heads as sent and as received, and sizes. Secret fields are left out.",
                sets: \.request.traces),
            Option(
                "write-out", letter: "w", value: .text("FORMAT"),
                help: "prints FORMAT after the body, such as %{http_code}",
                details: "Whatever came, also if it is an error. The variables are "
                    + "\(WriteOut.Variable.names), by curl's meaning: times are seconds since the beginning. "
                    + "\\n, \\t and \\r are a line end, a tab and a carriage return, and %% is a percent sign."
            ) { (options, given) throws(UsageError) in options.report = try WriteOut(given.value) },
        ] + recording

    /// What transfers have, too.
    static let recording: [Option<Self>] = [
        Option(
            "har", value: .file("FILE"), help: "writes what is sent and received into an HTTP archive",
            details:
                "Browsers show such a file, and so does dunlin har. An archive that is there is continued. Secrets "
                + "are left out, by their names, and so is what a body has beyond its first MiB."
        ) { (options, given) throws(UsageError) in
            let file = try given.text
            if file == "-" {
                throw UsageError(description: "--har needs the name of a file; standard output has the body")
            }
            options.archive = file
        }
    ]

    static let limitSection = OptionSection("limits", title: "limits and retries", limits.map(\.text))

    static let limits: [Option<Self>] = [
        Option(
            "max-time", letter: "m", value: .text("SECONDS"), help: "gives up after so long in total",
            details: "Without it only a server that is silent for too long ends the request."
        ) { (options, given) throws(UsageError) in options.request.limit = try given.seconds },
        Option(
            "retry", value: .text("N"), help: "retries up to N times, after a wait",
            details: "It retries when the connection fails, a phase takes too long, or the server is busy (408, 425, "
                + "429, 502, 503, 504); POST and PATCH only if the server has not processed them."
        ) { (options, given) throws(UsageError) in options.retries = try given.number(0...100) },
        Option(
            "location", letter: "L", help: "follows redirects, as without it",
            details: "Redirects are always followed, except with --max-redirs 0."),
        Option(
            "limit-rate", value: .text("RATE"), help: "the most bytes a second, such as 200K or 1M",
            details: "K is 1024. It is the rate of a body that is sent, and of all that is received together."
        ) { (options, given) throws(UsageError) in options.rate = try Rate(given.text) },
        Option(
            "max-redirs", value: .text("N"), help: "follows at most N redirects; 0 prints the first"
        ) { (options, given) throws(UsageError) in options.redirects = try given.number(0...1000) },
    ]
}

// MARK: - Checking

extension Command.GetOptions {
    static func checkContinuing(_ given: GivenOption) throws(UsageError) {
        guard given.value != "-" else { return }
        throw UsageError(description: "-C takes only -, which finds out where to continue, not \"\(given.value)\"")
    }

    /// Throws for options that do not fit together, and names the file that the URL names.
    ///
    /// `written` is the URL as it was typed, but whole: a file is called as people write it.
    mutating func check(against url: String, written: String? = nil) throws(UsageError) {
        try trust.check(against: url)
        try print.check()
        try request.check()
        try kept.check()
        try request.check(with: kept)
        try request.addCookies(kept.cookieText)
        try route.check()
        if namesFileByURL {
            if file != nil { throw UsageError(description: "-o and -O both name a file; use one") }
            let path = (written ?? url).prefix { $0 != "?" && $0 != "#" }.drop { $0 != ":" }.dropFirst(3).drop {
                $0 != "/"
            }
            guard let name = path.parts(at: UInt8(ascii: "/")).last, !name.isEmpty,
                name != ".", name != ".."
            else { throw UsageError(description: "-O needs a URL whose path ends with a name; use -o FILE") }
            file = String(name)
        }
        if file != nil, request.asksHeadOnly, request.httpMethod != .head {
            throw UsageError(description: "-I asks for the head only; there is no body for -o and -O to write")
        }
        if file != nil, request.httpMethod == .head {
            throw UsageError(description: "a HEAD request has no body to write; -o and -O need another method")
        }
        if request.sendsNothing {
            let given = [("--har", archive != nil), ("-w", report != nil)].first { $0.1 }?.0
            let reason = request.isOffline ? "--offline" : "--curl"
            if let given {
                throw UsageError(description: "\(reason) sends nothing, and \(given) tells what came of it; use one")
            }
        }
        if continues, file == nil { throw UsageError(description: "-C needs -o or -O as well") }
    }
}
