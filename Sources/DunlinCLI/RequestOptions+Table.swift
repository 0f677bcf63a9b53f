import DunlinCommandLine

/// The table of what a request is made of.
extension RequestOptions {
    static let table = sending + login

    static let sendingSection = OptionSection("send", title: "what is sent", sending.map(\.text))
    static let loginSection = OptionSection("login", title: "credentials", login.map(\.text))

    private static let sending: [Option<Self>] = [
        Option(
            "request", letter: "X", value: .text("METHOD"), help: "the method",
            details: "Without it the method is GET, or POST if there is a body.", isCommon: true
        ) { (options, given) throws(UsageError) in options.method = try method(given.value) },
        Option(
            "header", letter: "H", value: .text("\"NAME: VALUE\""), help: "adds a field",
            details: "It may be given several times.", isCommon: true
        ) { (options, given) throws(UsageError) in try options.append(given.value) },
        Option(
            "data", letter: "d", value: .text("TEXT"), help: "a body like a form's; also @FILE, and @- for input",
            details: "The content type is application/x-www-form-urlencoded. A file is sent as it is. "
                + "Several texts are joined by &.", isCommon: true
        ) { $0.data.append(DataSource($1.value)) },
        Option(
            "json", value: .text("TEXT"), help: "a JSON body, also @FILE or @-; asks for JSON", isCommon: true
        ) { (options, given) throws(UsageError) in
            if options.isJSON {
                throw UsageError(description: "--json may be given only once: a body is a single JSON value")
            }
            options.isJSON = true
            options.data.append(DataSource(given.value))
        },
    ]

    private static let login: [Option<Self>] = [
        Option(
            "user", letter: "u", value: .text("NAME:PASSWORD"), help: "sent when the server asks, by Digest or Basic",
            details: "Without :PASSWORD the terminal asks for it, which is safer: other users can see the arguments "
                + "of a program.", isCommon: true
        ) { (options, given) throws(UsageError) in options.user = try User(given.value) },
        Option(
            "digest", help: "with --user: by Digest only",
            details: "So neither the server nor anybody on the way gets the password itself.",
            sets: \.answersDigestAlone),
        Option(
            "bearer", value: .text("TOKEN"), help: "this token, sent with the request at once; also @FILE or @-",
            details: "Of a file, the first line is the token."
        ) { $0.bearer = DataSource($1.value) },
    ]
}
