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
                "reachability", arguments: "[HOST]", words: .text,
                help: "whether the network, or a host, can be reached",
                sections: [ReachabilityOptions.section]),
            CommandText(
                "cache", arguments: "list|clear", words: .fixed(["list", "clear"]),
                help: "lists or removes what --cache has stored"),
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
                + "multipart form, of which NAME=TEXT is then a field."),
        ProgramText.Note(
            "Environment",
            "The variables http_proxy, https_proxy, all_proxy and no_proxy choose a proxy where no option does.",
            "NO_COLOR and TERM=dumb leave out colours. COLUMNS is the width of the help where a terminal does not say "
                + "its own.",
            "--cache stores responses in $XDG_CACHE_HOME/dunlin, or in ~/.cache/dunlin."),
    ]
}
