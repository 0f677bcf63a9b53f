internal import DunlinDisplay

/// Text in lines of whole words.
package enum WrappedText {
    /// The lines, none wider than `width` columns unless one word is. Those after the first begin with `indent` blanks,
    /// or as many more as the text itself begins with.
    package static func lines(of text: String, width: Int, indent: Int = 0) -> [String] {
        if DisplayWidth.of(text) <= width { return [text] }
        let start = text.prefix { $0 == " " }
        let margin = String(repeating: " ", count: min(indent + start.count, width / 2))
        var lines: [String] = []
        var (line, used) = (String(start), start.count)
        var isEmpty = true
        for word in text.split(separator: " ") {
            let wide = DisplayWidth.of(word)
            if !isEmpty, used + 1 + wide > width {
                lines.append(line)
                (line, used, isEmpty) = (margin, margin.count, true)
            }
            line += isEmpty ? word : " \(word)"
            used += wide + (isEmpty ? 0 : 1)
            isEmpty = false
        }
        return lines + [line]
    }
}
