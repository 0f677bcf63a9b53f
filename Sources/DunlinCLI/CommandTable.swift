import DunlinCommandLine

/// The table of the `dunlin` command, from which its parser, help, manual page and completions are made.
enum CommandTable {
    /// The commands that are methods: `dunlin post` is `dunlin -X POST`.
    static let methods = ["get", "head", "post", "put", "patch", "delete", "options"]

    static let text = ProgramText(
        name: "dunlin", help: "an HTTP/1.1 client",
        main: CommandText(
            "", arguments: "URL [ITEM...]", words: .text,
            help: "a GET, or a POST of NAME=TEXT and bodies",
            sections: Command.GetOptions.sections),
        commands: methods.map(method) + [
            CommandText(
                "download", arguments: "URL...", words: .text, help: "many files at once, continued and checked",
                sections: TransferOptions.downloadSections),
            CommandText(
                "upload", arguments: "FILE... URL", words: .files, help: "sends files, by PUT or as a form",
                sections: TransferOptions.uploadSections),
            CommandText(
                "reachability", arguments: "[HOST]", words: .text,
                help: "whether the network, or a host, can be reached",
                sections: [ReachabilityOptions.section]),
            CommandText(
                "cache", arguments: "list|clear", words: .fixed(["list", "clear"]),
                help: "lists or removes what --cache has stored"),
            CommandText(
                "session", arguments: "list|show NAME|remove NAME", words: .fixed(SessionCommand.Operation.words),
                help: "what --session has stored"),
            CommandText("har", arguments: "FILE", words: .files, help: "the requests in an HTTP archive, as a table"),
            CommandText("demo", help: "example requests to a server inside the command"),
        ],
        alike: "the same by this method",
        absent: absent, notes: notes)

    private static func method(_ name: String) -> CommandText {
        CommandText(
            name, arguments: "URL [ITEM...]", words: .text, help: "requests URL by the method \(name.uppercased())",
            sections: Command.GetOptions.sections)
    }

    private static let notes = [
        ProgramText.Note(
            "Items",
            "Words after the URL are parts of the request: NAME=TEXT and NAME:=JSON are members of a JSON object, "
                + "NAME==TEXT is a parameter of the URL's query, NAME:VALUE is a field, and NAME@FILE is a file of a "
                + "multipart form, of which NAME=TEXT is then a field. NAME: leaves out a field that is sent "
                + "otherwise, and NAME; sends it empty.",
            "Brackets nest members: a[b]=1 is {\"a\":{\"b\":\"1\"}}, a[]=1 adds to an array, and a[2]=1 is one of "
                + "its elements. A backslash before a bracket or a separator makes it part of the name."),
        ProgramText.Note(
            "Environment",
            "The variables http_proxy, https_proxy, all_proxy and no_proxy choose a proxy where no option does.",
            "NO_COLOR and TERM=dumb leave out colours. COLUMNS is the width of the help where a terminal does not say "
                + "its own.",
            "--cache stores responses in $XDG_CACHE_HOME/dunlin, or in ~/.cache/dunlin."),
        ProgramText.Note(
            "Files",
            "--session keeps a file for each session in $XDG_CONFIG_HOME/dunlin/sessions, or in "
                + "~/.config/dunlin/sessions. It holds passwords and cookies as they are, and only its owner can read "
                + "it; a file that others can read, or that is a link or another user's, is refused.",
            "-n reads ~/.netrc, in which machine, login and password are words, perhaps in double quotes; account and "
                + "macdef are skipped. A file that others can read, or that is another user's, is refused.",
            "-b FILE and -c FILE read and write cookies in Netscape's format, as curl does. The file is as secret as "
                + "a password; one that -c makes can be read by its owner only."),
    ]
}
