import Dunlin
import DunlinCommandLine

/// What the options of `dunlin download` and `dunlin upload` say.
struct TransferOptions: Equatable, Sendable {
    /// What they have in common with the options of a request.
    var get = Command.GetOptions()
    /// The folder that files are written to; nil for the current one.
    var folder: String?
    /// A list of URLs: a file, or a dash for standard input.
    var list: String?
    /// How many transfers run at once.
    var parallel = 4
    var overwrites = false
    /// The digest of the one file.
    var digest: ContentDigest?
}

// MARK: - The table

extension TransferOptions {
    static let downloadTable = downloads + running + shared
    static let uploadTable = uploads + running + shared

    static let downloadSections =
        [OptionSection("download", title: "what is downloaded, and where to", (downloads + running).map(\.text))]
        + sharedSections
    static let uploadSections =
        [OptionSection("upload", title: "what is uploaded, and how", (uploads + running).map(\.text))]
        + sharedSections

    private static let shared: [Option<Self>] = [
        Command.GetOptions.limits, RequestOptions.sending.map { $0.lifted(\.request) },
        RequestOptions.login.map { $0.lifted(\.request) }, TrustOptions.table.map { $0.lifted(\.trust) },
        RouteOptions.table.map { $0.lifted(\.route) },
    ].joined().map { $0.lifted(\.get) }

    private static let sharedSections = [
        Command.GetOptions.limitSection, RequestOptions.sendingSection, RequestOptions.loginSection,
        TrustOptions.section, RouteOptions.section,
    ]

    private static let downloads: [Option<Self>] = [
        Option(
            "output", letter: "o", value: .file("FILE"), help: "the file's name, for a single URL", isCommon: true
        ) { (options, given) throws(UsageError) in options.get.file = try given.text },
        Option(
            "folder", "output-dir", letter: "P", value: .file("DIR"), help: "writes into this folder, which is created",
            isCommon: true
        ) { (options, given) throws(UsageError) in options.folder = try given.text },
        Option(
            "input", letter: "i", value: .file("FILE"), help: "a list, one URL a line; - is standard input",
            details: "After a URL may stand sha256: with a digest, and a name for the file. A # begins a comment.",
            isCommon: true
        ) { (options, given) throws(UsageError) in options.list = try given.text },
        Option(
            "sha256", value: .text("HEX"), help: "the digest that the file must have, for a single URL",
            isCommon: true
        ) { (options, given) throws(UsageError) in options.digest = try DownloadItem.digest(given.text) },
        Option(
            "overwrite", help: "replaces files that are there already",
            details: "Without it such a file is kept: that is well if it has the length, or the digest, that the new "
                + "one should have, and an error otherwise.", isCommon: true, sets: \.overwrites),
        Option(
            "continue-at", letter: "C", value: .words(["-"]), help: "continues what is there, as without it"
        ) { (_, given) throws(UsageError) in try Command.GetOptions.checkContinuing(given) },
        Option("remote-name", letter: "O", help: "takes the name from the server or the URL, as without it"),
    ]

    private static let uploads: [Option<Self>] = [
        Option(
            "form", letter: "F", value: .text("NAME=VALUE"), help: "by POST, as a form with this part; also NAME=@FILE",
            details: "Without it each file is the body of a PUT. With it, each FILE is a part called file.",
            isCommon: true
        ) { (options, given) throws(UsageError) in options.get.request.form.append(try FormPart(given.value)) },
        Option(
            "include", letter: "i", help: "prints status and fields of the answer", sets: \.get.showsHead),
    ]

    private static let running: [Option<Self>] =
        [
            Option(
                "parallel", value: .text("N"), help: "transfers N files at once; 4 without it", isCommon: true
            ) { (options, given) throws(UsageError) in options.parallel = try given.number(1...1000) },
            Option("silent", letter: "s", help: "prints no bar, warning or error", sets: \.get.isSilent),
            Option("show-error", letter: "S", help: "with -s: prints errors even so", sets: \.get.showsErrors),
            Option("fail", letter: "f", help: "a status from 400 on is an error, as without it"),
        ] + Command.GetOptions.recording.map { $0.lifted(\.get) }
}
