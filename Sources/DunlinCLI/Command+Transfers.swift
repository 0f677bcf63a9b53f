import DunlinCommandLine

extension Command {
    static func download(_ parsed: ParsedArguments) throws(UsageError) -> Command {
        var options = TransferOptions()
        try parsed.apply(TransferOptions.downloadTable, to: &options)
        var items = try parsed.words.map { word throws(UsageError) in DownloadItem(url: try URLWord.url(of: word)) }
        try options.check(download: items.map(\.url))
        if let digest = options.digest { items[0].digest = digest }
        return .download(items, options)
    }

    static func upload(_ parsed: ParsedArguments) throws(UsageError) -> Command {
        var options = TransferOptions()
        try parsed.apply(TransferOptions.uploadTable, to: &options)
        guard let word = parsed.words.last else {
            throw UsageError(description: "upload needs files and a URL; see dunlin help upload")
        }
        let url = try URLWord.url(of: word)
        let files = Array(parsed.words.dropLast())
        try options.check(upload: files, to: url)
        return .upload(files: files, url: url, options)
    }
}
