import DunlinCommandLine

/// The table of what a request is made of.
extension RequestOptions {
    static let table = sending + bodies + login

    static let sendingSection = OptionSection(
        "send", title: "what is sent; NAME==TEXT and NAME:VALUE after the URL, too", sending.map(\.text))
    static let bodySection = OptionSection(
        "body", title: "bodies; NAME=TEXT, NAME:=JSON and NAME@FILE after the URL, too", bodies.map(\.text))
    static let loginSection = OptionSection("login", title: "credentials", login.map(\.text))

    static let sending: [Option<Self>] = [
        Option(
            "request", letter: "X", value: .text("METHOD"), help: "the method",
            details: "Without it the method is GET, or POST if there is a body.", isCommon: true
        ) { (options, given) throws(UsageError) in options.method = try method(given.value) },
        Option(
            "header", letter: "H", value: .text("\"NAME: VALUE\""), help: "adds a field",
            details: "It may be given several times. NAME: without a value leaves a field out that is sent otherwise, "
                + "and NAME; sends it without a value.", isCommon: true
        ) { (options, given) throws(UsageError) in try options.append(given.value) },
        Option("get", letter: "G", help: "puts what -d gives into the URL's query", sets: \.putsDataInURL),
        Option("head", letter: "I", help: "asks for the head only, and prints it", sets: \.asksHeadOnly),
        Option(
            "user-agent", letter: "A", value: .text("NAME"), help: "the program's name; empty for none"
        ) { (options, given) throws(UsageError) in
            try RequestOptions.check(given.value, of: "User-Agent")
            options.userAgent = given.value
        },
        Option(
            "referer", letter: "e", value: .text("URL"), help: "where the URL was found"
        ) { (options, given) throws(UsageError) in try options.replace("Referer", given.text) },
        Option("compressed", help: "asks for a compressed answer, as without it"),
        Option("http1.1", help: "speaks HTTP/1.1, as without it"),
    ]

    private static let bodies: [Option<Self>] = [
        Option(
            "data", letter: "d", value: .text("TEXT"), help: "a body like a form's; also @FILE, and @- for input",
            details: "The content type is application/x-www-form-urlencoded. A file is sent as it is. "
                + "Several texts are joined by &.", isCommon: true
        ) { $0.data.append(DataSource($1.value)) },
        Option(
            "json", value: .text("TEXT"), help: "a JSON body, also @FILE or @-; asks for JSON"
        ) { (options, given) throws(UsageError) in
            if options.isJSON {
                throw UsageError(description: "--json may be given only once: a body is a single JSON value")
            }
            options.isJSON = true
            options.data.append(DataSource(given.value))
        },
        Option(
            "data-raw", value: .text("TEXT"), help: "like -d, but @ means nothing"
        ) { $0.data.append(.text($1.value)) },
        Option(
            "data-binary", value: .text("TEXT"), help: "like -d, which changes no file either"
        ) { $0.data.append(DataSource($1.value)) },
        Option(
            "data-urlencode", value: .text("TEXT"), help: "like -d, percent-encoded; also NAME=TEXT, NAME@FILE",
            details: "The name is sent as it is. =TEXT is a text without a name that may contain an equals sign."
        ) { $0.data.append(.urlEncoded($1.value)) },
        Option(
            "form", letter: "F", value: .text("NAME=VALUE"), help: "a part of a multipart form; also NAME=@FILE",
            details: "NAME=<FILE is a field with the content of a file. ;type=TYPE may follow, and after a file "
                + ";filename=NAME. In double quotes a value may have semicolons. FILE - is standard input."
        ) { (options, given) throws(UsageError) in options.form.append(try FormPart(given.value)) },
        Option(
            "form-string", value: .text("NAME=TEXT"), help: "a text of a form, in which @, < and ; mean nothing"
        ) { (options, given) throws(UsageError) in options.form.append(try FormPart(literal: given.value)) },
        Option(
            "upload-file", letter: "T", value: .file("FILE"), help: "sends a file by PUT; - is standard input",
            details: "If the URL's path ends with a slash, the file's name is added to it."
        ) { (options, given) throws(UsageError) in
            options.upload = try given.text == "-" ? .input : .file(given.value)
        },
    ]

    static let login: [Option<Self>] = [
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
            details: "A file of it has one line."
        ) { $0.bearer = DataSource($1.value) },
    ]
}
