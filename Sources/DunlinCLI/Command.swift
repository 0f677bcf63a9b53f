import DunlinCommandLine

/// A parsed command line. All of it is parsed before anything is done; `Invocation` says how.
enum Command: Equatable {
    case page(HelpPage)
    case demo
    case get(url: String, GetOptions)
    case reachability(host: String?, observes: Bool)
    case cache(StoreCommand.Operation)
    case session(SessionCommand.Operation)
    case har(file: String)
    case download([DownloadItem], TransferOptions)
    case upload(files: [String], url: String, TransferOptions)

    init(arguments: [String]) throws(UsageError) {
        switch try Invocation(arguments, of: CommandTable.text) {
        case .page(let page): self = .page(page)
        case .command("demo", _): self = .demo
        case .command("reachability", let parsed): self = try Self.reachability(parsed)
        case .command("cache", let parsed): self = try Self.cache(parsed)
        case .command("session", let parsed): self = .session(try SessionCommand.Operation(parsed.words))
        case .command("har", let parsed): self = .har(file: try Self.file(parsed))
        case .command("download", let parsed): self = try Self.download(parsed)
        case .command("upload", let parsed): self = try Self.upload(parsed)
        case .command(let name, let parsed): self = try Self.get(name, parsed)
        }
    }

    private static func cache(_ parsed: ParsedArguments) throws(UsageError) -> Command {
        guard parsed.words.count == 1, let operation = StoreCommand.Operation(rawValue: parsed.words[0]) else {
            if parsed.words.count > 1 {
                throw UsageError(description: "cache takes one word, list or clear; \"\(parsed.words[1])\" is another")
            }
            let given = parsed.words.first.map { ", not \"\($0)\"" } ?? ""
            throw UsageError(description: "cache takes list or clear\(given); see dunlin help")
        }
        return .cache(operation)
    }

    private static func file(_ parsed: ParsedArguments) throws(UsageError) -> String {
        guard let file = parsed.words.first, !file.isEmpty else {
            throw UsageError(description: "har needs a file; see dunlin help har")
        }
        guard parsed.words.count == 1 else {
            throw UsageError(description: "har takes one file; \"\(parsed.words[1])\" is another")
        }
        return file
    }

    private static func reachability(_ parsed: ParsedArguments) throws(UsageError) -> Command {
        var options = ReachabilityOptions()
        try parsed.apply(ReachabilityOptions.table, to: &options)
        guard parsed.words.count <= 1 else {
            throw UsageError(description: "reachability takes one host; \"\(parsed.words[1])\" is another")
        }
        return .reachability(host: parsed.words.first, observes: options.observes)
    }

    /// A request. The name is a method, or empty for a URL alone.
    private static func get(_ name: String, _ parsed: ParsedArguments) throws(UsageError) -> Command {
        var (options, parsed) = (GetOptions(), parsed)
        let method = name.isEmpty ? methodWord(&parsed.words) : nil
        if let method { options.request.method = method }
        if !name.isEmpty, name != "get" { options.request.method = name.uppercased() }
        try parsed.apply(GetOptions.table, to: &options)
        let title = method ?? (name.isEmpty ? "dunlin" : name)
        guard let word = parsed.words.first else {
            throw UsageError(description: "\(title) needs a URL; see dunlin help")
        }
        let items = try parsed.words.dropFirst().map { word throws(UsageError) in
            guard let item = try RequestItem(word) else {
                throw UsageError(description: tooMany(parsed.words[0], word, title))
            }
            return item
        }
        try options.request.add(items)
        if isItem(word) { throw UsageError(description: "\(title) needs a URL before NAME=VALUE; see dunlin help") }
        let url = try URLWord.url(of: word)
        try options.check(against: url, written: URLWord.written(word))
        return .get(url: url, options)
    }
}

extension Command {
    /// Takes a method from before the URL, as HTTPie has it: `POST a.test`. A word of capital letters is one if another
    /// word follows, or if a command is called like it.
    private static func methodWord(_ words: inout [String]) -> String? {
        guard let word = words.first, word.utf8.count > 1, word.utf8.allSatisfy({ (0x41...0x5A).contains($0) }),
            words.count > 1 || CommandTable.methods.contains(word.lowercased())
        else { return nil }
        words.removeFirst()
        return word
    }

    /// Whether a word instead of a URL was meant as an item. It is not shown, as its value may be a secret. Before the
    /// path of a URL an equals sign can only be part of a password.
    private static func isItem(_ word: String) -> Bool {
        let authority = word.prefix { !"/?#".contains($0) }
        return authority.utf8.contains(UInt8(ascii: "=")) && !authority.utf8.contains(UInt8(ascii: "@"))
    }

    /// What is said of a second URL. Perhaps the first word was meant as a command.
    private static func tooMany(_ first: String, _ other: String, _ title: String) -> String {
        let start = "\(title) takes one URL; \"\(URLWord.shown(other))\" is another"
        if CommandTable.text.command(first) != nil { return "\(start); \(first) has to be the first argument" }
        guard title == "dunlin", let command = CommandTable.text.nearestCommand(to: first) else { return start }
        return "\(start), and the command nearest to \"\(first)\" is \(command)"
    }
}

/// The options of `dunlin reachability`.
struct ReachabilityOptions {
    var observes = false

    static let table: [Option<Self>] = [
        Option("watch", letter: "w", help: "goes on, and prints every change", sets: \.observes)
    ]
    static let section = OptionSection("reachability", title: "reachability", table.map(\.text))
}
