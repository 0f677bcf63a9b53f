import DunlinCommandLine

/// A parsed command line. All of it is parsed before anything is done.
enum Command: Equatable {
    case help
    case version
    case demo
    case get(url: String, GetOptions)
    case reachability(host: String?, observes: Bool)
    case cache(StoreCommand.Operation)

    struct GetOptions: Equatable {
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

    init(arguments: [String]) throws(UsageError) {
        guard let name = arguments.first else {
            self = .help
            return
        }
        let rest = Array(arguments.dropFirst())
        switch name {
        case "help", "--help", "-h":
            self = .help
        case "version", "--version":
            self = try Self.alone(.version, name, rest)
        case "demo":
            self = try Self.alone(.demo, name, rest)
        case "get", "head", "post", "put", "patch", "delete", "options":
            self = try Self.get(name, rest)
        case "reachability":
            self = try Self.reachability(rest)
        case "cache":
            self = try Self.cache(rest)
        default:
            throw UsageError(description: "there is no command \"\(name)\"; see dunlin help")
        }
    }

    private static func alone(_ command: Command, _ name: String, _ rest: [String]) throws(UsageError) -> Command {
        guard let extra = rest.first else { return command }
        if extra == "--help" || extra == "-h" { return .help }
        throw UsageError(description: "\(name) takes no arguments; \"\(extra)\" was given")
    }

    private static func cache(_ arguments: [String]) throws(UsageError) -> Command {
        if arguments == ["-h"] || arguments == ["--help"] { return .help }
        guard arguments.count == 1, let operation = StoreCommand.Operation(rawValue: arguments[0]) else {
            let given = arguments.first.map { ", not \"\($0)\"" } ?? ""
            throw UsageError(description: "cache takes list or clear\(given); see dunlin help")
        }
        return .cache(operation)
    }

    private static func reachability(_ arguments: [String]) throws(UsageError) -> Command {
        var hosts: [String] = []
        var observes = false
        for argument in arguments {
            switch argument {
            case "-w", "--watch": observes = true
            case "-h", "--help": return .help
            case let option where option.hasPrefix("-"):
                throw UsageError(description: "reachability has no option \"\(option)\"; see dunlin help")
            default: hosts.append(argument)
            }
        }
        guard hosts.count <= 1 else {
            throw UsageError(description: "reachability takes one host; \"\(hosts[1])\" is another")
        }
        return .reachability(host: hosts.first, observes: observes)
    }

    /// Parses a request: `dunlin post` is `dunlin get -X POST`, and so on.
    private static func get(_ name: String, _ arguments: [String]) throws(UsageError) -> Command {
        var options = GetOptions()
        if name != "get" { options.request.method = name.uppercased() }
        var urls: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "-h", "--help": return .help
            case let option where option.hasPrefix("-"):
                let isKnown = try options.take(option, &rest)
                guard isKnown else {
                    throw UsageError(description: "\(name) has no option \"\(option)\"; see dunlin help")
                }
            default: urls.append(argument)
            }
        }
        guard let url = urls.first else { throw UsageError(description: "\(name) needs a URL; see dunlin help") }
        guard urls.count == 1 else { throw UsageError(description: "\(name) takes one URL; \"\(urls[1])\" is another") }
        try options.trust.check(against: url)
        try options.request.check()
        try options.route.check()
        return .get(url: url, options)
    }
}

extension Command.GetOptions {
    /// Takes an option and its value from the arguments. Returns false for an unknown option.
    fileprivate mutating func take(_ option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> Bool {
        switch option {
        case "-i", "--include": showsHead = true
        case "-v", "--verbose": isVerbose = true
        case "--cache": usesCache = true
        case "-o", "--output": file = try rest.takeText(of: option)
        case "--retry":
            let text = try rest.takeText(of: option)
            guard let count = Int(text), (0...100).contains(count) else {
                throw UsageError(description: "--retry needs a number from 0 to 100, not \"\(text)\"")
            }
            retries = count
        default:
            if try request.take(option, &rest) { return true }
            if try route.take(option, &rest) { return true }
            return try trust.take(option, &rest)
        }
        return true
    }
}
