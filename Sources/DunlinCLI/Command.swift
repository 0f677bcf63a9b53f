/// What the command line asks for. Parsed as a whole before anything is done.
enum Command: Equatable {
    case help
    case version
    case demo
    case get(url: String, GetOptions)
    case reachability(host: String?, watches: Bool)

    struct GetOptions: Equatable {
        /// Status and fields before the body.
        var showsHead = false
        /// The phases' timings on standard error.
        var isVerbose = false
        /// The body goes there.
        var file: String?
        /// How often it is tried again.
        var retries = 0
        var trust = TrustOptions()
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
        case "get":
            self = try Self.get(rest)
        case "reachability":
            self = try Self.reachability(rest)
        default:
            throw UsageError(description: "there is no command \"\(name)\"; see dunlin help")
        }
    }

    private static func alone(_ command: Command, _ name: String, _ rest: [String]) throws(UsageError) -> Command {
        guard let extra = rest.first else { return command }
        if extra == "--help" || extra == "-h" { return .help }
        throw UsageError(description: "\(name) takes no arguments; \"\(extra)\" was given")
    }

    private static func reachability(_ arguments: [String]) throws(UsageError) -> Command {
        var hosts: [String] = []
        var watches = false
        for argument in arguments {
            switch argument {
            case "-w", "--watch": watches = true
            case "-h", "--help": return .help
            case let option where option.hasPrefix("-"):
                throw UsageError(description: "reachability has no option \"\(option)\"; see dunlin help")
            default: hosts.append(argument)
            }
        }
        guard hosts.count <= 1 else {
            throw UsageError(description: "reachability takes one host; \"\(hosts[1])\" is another")
        }
        return .reachability(host: hosts.first, watches: watches)
    }

    private static func get(_ arguments: [String]) throws(UsageError) -> Command {
        var options = GetOptions()
        var urls: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "-i", "--include": options.showsHead = true
            case "-v", "--verbose": options.isVerbose = true
            case "-o", "--output":
                guard let file = rest.popFirst(), !file.isEmpty else {
                    throw UsageError(description: "\(argument) needs a value")
                }
                options.file = file
            case "--retry":
                guard let count = rest.popFirst().flatMap({ Int($0) }), (0...100).contains(count) else {
                    throw UsageError(description: "--retry needs a number from 0 to 100")
                }
                options.retries = count
            case "-h", "--help": return .help
            case let option where option.hasPrefix("-"):
                guard try options.trust.take(option, &rest) else {
                    throw UsageError(description: "get has no option \"\(option)\"; see dunlin help")
                }
            default: urls.append(argument)
            }
        }
        guard let url = urls.first else { throw UsageError(description: "get needs a URL; see dunlin help") }
        guard urls.count == 1 else { throw UsageError(description: "get takes one URL; \"\(urls[1])\" is another") }
        try options.trust.check(against: url)
        return .get(url: url, options)
    }
}

/// Arguments that ask for nothing we know.
struct UsageError: Error, Equatable {
    let description: String
}
